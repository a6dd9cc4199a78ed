/**
 * Computes the next state of a watch from its state and a response or event. `informer.ts` does all
 * I/O and reads the clock.
 *
 * ```text
 * start ──stream──▶ initial ──end mark──▶ live ──ended──▶ live (from its version)
 *   │                  └─ended, failed─▶ start              └─expired (410)─▶ start
 *   └─if streaming is rejected: paging ──last page──▶ live
 * ```
 *
 * Objects remain stored during a new list. Its end determines which of them were deleted.
 */
import type { WatchEvent } from "../kube/calls.ts";
import type { AnyKind, KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { isNewer } from "./resource_version.ts";

/** The state of a watch. */
export type State =
  /** No version is known, or it has expired. */
  | { readonly at: "start"; readonly streams: boolean }
  /** A streaming list is being received (KEP-3157). `seen` has the keys so far. */
  | { readonly at: "initial"; readonly streams: true; readonly seen: Set<ObjectKey> }
  /** A paged list is being received. `seen` has the keys so far. */
  | {
    readonly at: "paging";
    readonly streams: boolean;
    readonly seen: Set<ObjectKey>;
    readonly next: string | undefined;
  }
  /** All changes up to a version are known. */
  | { readonly at: "live"; readonly streams: boolean; readonly resourceVersion: string };

/** A response, an event, or the end of a stream. */
export type Received =
  | { readonly type: "event"; readonly event: WatchEvent }
  | {
    readonly type: "page";
    readonly items: readonly KubeObject[];
    readonly resourceVersion: string;
    readonly next: string | undefined;
  }
  /** The server rejected a streaming list, permanently or temporarily. */
  | { readonly type: "rejection"; readonly isPermanent: boolean }
  /** The version has expired (410). */
  | { readonly type: "expiry" }
  /** The stream ended or failed. */
  | { readonly type: "end" };

/** A change of the store. */
export type Change =
  | { readonly do: "set"; readonly object: KubeObject }
  | { readonly do: "delete"; readonly object: KubeObject }
  /** A list is complete: objects that are not in `seen` were deleted. */
  | { readonly do: "retain"; readonly seen: ReadonlySet<ObjectKey>; readonly resourceVersion: string };

/** The first state of a watch. */
export const START: State = { at: "start", streams: true };

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * Returns the next state and the changes of the store.
 *
 * @param state The current state.
 * @param received The response, event or end.
 */
export function step(state: State, received: Received): { state: State; changes: readonly Change[] } {
  switch (received.type) {
    case "event":
      return onEvent(state, received.event);
    case "page":
      return onPage(state, received);
    case "rejection":
      return { state: { at: "paging", streams: !received.isPermanent, seen: new Set(), next: undefined }, changes: [] };
    case "expiry":
      return { state: { at: "start", streams: state.streams }, changes: [] };
    case "end":
      return { state: state.at === "live" ? state : { at: "start", streams: state.streams }, changes: [] };
  }
}

function onEvent(state: State, { type, object }: WatchEvent): { state: State; changes: readonly Change[] } {
  // A repeated old event must not restore deleted objects or decrease the version.
  if (state.at === "live" && isNewer(state.resourceVersion, object.metadata?.resourceVersion ?? "")) {
    return { state, changes: [] };
  }
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      if (state.at === "initial") state.seen.add(keyOf(object.metadata));
      return { state: withVersion(state, object), changes: [{ do: "set", object }] };
    case "DELETED":
      if (state.at === "initial") state.seen.delete(keyOf(object.metadata));
      return { state: withVersion(state, object), changes: [{ do: "delete", object }] };
    case "BOOKMARK": {
      const { resourceVersion, annotations } = object.metadata;
      if (state.at !== "initial" || annotations?.[INITIAL_EVENTS_END] !== "true") {
        return { state: withVersion(state, object), changes: [] };
      }
      const live: State = { at: "live", streams: true, resourceVersion };
      return { state: live, changes: [{ do: "retain", seen: state.seen, resourceVersion }] };
    }
    default:
      // The informer has handled ERROR. Unknown types are ignored.
      return { state, changes: [] };
  }
}

function withVersion(state: State, object: KubeObject): State {
  return state.at === "live" ? { ...state, resourceVersion: object.metadata.resourceVersion } : state;
}

function onPage(
  state: State,
  { items, resourceVersion, next }: Extract<Received, { type: "page" }>,
): { state: State; changes: readonly Change[] } {
  const seen = state.at === "paging" ? state.seen : new Set<ObjectKey>();
  for (const item of items) seen.add(keyOf(item.metadata));
  const changes: Change[] = items.map((object) => ({ do: "set", object }));
  if (next !== undefined) return { state: { at: "paging", streams: state.streams, seen, next }, changes };
  changes.push({ do: "retain", seen, resourceVersion });
  return { state: { at: "live", streams: state.streams, resourceVersion }, changes };
}

/**
 * Metadata that an object must have to be stored. Without a uid, an object cannot be distinguished
 * from another one of the same name.
 */
const IDENTITY = ["name", "uid", "resourceVersion"] as const;
const VERSION = ["resourceVersion"] as const;

/**
 * Rejects an event whose object has no identity. No real server sends one.
 *
 * @throws {SyntaxError} If a field of the metadata is missing or empty.
 */
export function rejectIncompleteEvent({ kind }: AnyKind, { type, object }: WatchEvent): void {
  const metadata = (object as WatchEvent["object"] | undefined)?.metadata;
  const missing = (type === "BOOKMARK" ? VERSION : IDENTITY).find((name) => {
    const value: unknown = metadata?.[name];
    return typeof value !== "string" || value === "";
  });
  if (missing === undefined) return;
  throw new SyntaxError(`Cannot watch ${kind}: an event of type "${type}" has no metadata.${missing}`);
}
