/**
 * What a watch does next, as a function of where it is and what came in. No I/O, no time: the loop in `informer.ts` does what it is told.
 *
 * ```text
 * start ──stream──▶ initial ──end mark──▶ live ──ended──▶ live (from its version)
 *   │                  └─ended, failed─▶ start              └─expired (410)─▶ start
 *   └─where streaming is refused: paging ──last page──▶ live
 * ```
 *
 * What is held stays while a new listing is under way: only its end says what is gone.
 */
import type { WatchEvent } from "../kube/calls.ts";
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "./key.ts";
import { isNewer } from "./resource_version.ts";

/** Where a watch is. */
export type State =
  /** Nothing is known, or what is known is too old. */
  | { readonly at: "start"; readonly streams: boolean }
  /** A streaming list is under way (KEP-3157); `seen` grows. */
  | { readonly at: "initial"; readonly streams: true; readonly seen: Set<ObjectKey> }
  /** A paged list is under way; `seen` grows. */
  | {
    readonly at: "paging";
    readonly streams: boolean;
    readonly seen: Set<ObjectKey>;
    readonly next: string | undefined;
  }
  /** All is known up to a version. */
  | { readonly at: "live"; readonly streams: boolean; readonly resourceVersion: string };

/** What came in. */
export type Incoming =
  | { readonly came: "event"; readonly event: WatchEvent }
  | {
    readonly came: "page";
    readonly items: readonly KubeObject[];
    readonly resourceVersion: string;
    readonly next: string | undefined;
  }
  /** The server has no streaming list: none at all, or none just now. */
  | { readonly came: "refusal"; readonly isLasting: boolean }
  /** 410: the version is too old. */
  | { readonly came: "expiry" }
  /** The stream ended, or broke. */
  | { readonly came: "end" };

/** What to do with the store. */
export type Change =
  | { readonly do: "set"; readonly object: KubeObject }
  | { readonly do: "delete"; readonly object: KubeObject }
  /** A listing is complete: what was not seen is gone. */
  | { readonly do: "retain"; readonly seen: ReadonlySet<ObjectKey>; readonly resourceVersion: string };

/** The state a watch begins in. */
export const START: State = { at: "start", streams: true };

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * One step.
 *
 * @param state Where the watch is.
 * @param incoming What came in.
 * @returns Where it is then, and what to do with the store.
 */
export function step(state: State, incoming: Incoming): { state: State; changes: readonly Change[] } {
  switch (incoming.came) {
    case "event":
      return onEvent(state, incoming.event);
    case "page":
      return onPage(state, incoming);
    case "refusal":
      return { state: { at: "paging", streams: !incoming.isLasting, seen: new Set(), next: undefined }, changes: [] };
    case "expiry":
      return { state: { at: "start", streams: state.streams }, changes: [] };
    case "end":
      return { state: state.at === "live" ? state : { at: "start", streams: state.streams }, changes: [] };
  }
}

function onEvent(state: State, { type, object }: WatchEvent): { state: State; changes: readonly Change[] } {
  // Told again: what went since must not come back, and the watch does not go back.
  if (state.at === "live" && isNewer(state.resourceVersion, object.metadata?.resourceVersion ?? "")) {
    return { state, changes: [] };
  }
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      if (state.at === "initial") state.seen.add(keyOf(object.metadata));
      return { state: moved(state, object), changes: [{ do: "set", object }] };
    case "DELETED":
      if (state.at === "initial") state.seen.delete(keyOf(object.metadata));
      return { state: moved(state, object), changes: [{ do: "delete", object }] };
    case "BOOKMARK": {
      const { resourceVersion, annotations } = object.metadata;
      if (state.at !== "initial" || annotations?.[INITIAL_EVENTS_END] !== "true") {
        return { state: moved(state, object), changes: [] };
      }
      const live: State = { at: "live", streams: true, resourceVersion };
      return { state: live, changes: [{ do: "retain", seen: state.seen, resourceVersion }] };
    }
    default:
      // ERROR and what we do not know: the loop has read its code already.
      return { state, changes: [] };
  }
}

function moved(state: State, object: KubeObject): State {
  return state.at === "live" ? { ...state, resourceVersion: object.metadata.resourceVersion } : state;
}

function onPage(
  state: State,
  { items, resourceVersion, next }: Extract<Incoming, { came: "page" }>,
): { state: State; changes: readonly Change[] } {
  const seen = state.at === "paging" ? state.seen : new Set<ObjectKey>();
  for (const item of items) seen.add(keyOf(item.metadata));
  const changes: Change[] = items.map((object) => ({ do: "set", object }));
  if (next !== undefined) return { state: { at: "paging", streams: state.streams, seen, next }, changes };
  changes.push({ do: "retain", seen, resourceVersion });
  return { state: { at: "live", streams: state.streams, resourceVersion }, changes };
}
