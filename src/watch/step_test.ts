import assert from "node:assert/strict";
import type { WatchEvent } from "../kube/calls.ts";
import type { KubeObject } from "../resource/kind.ts";
import { type Change, type Received, START, type State, step } from "./step.ts";

const LIVE: State = { at: "live", streams: true, resourceVersion: "5" };
const PAGED: State = { at: "live", streams: false, resourceVersion: "5" };
const A = object("a", "6");
const B = object("b", "7");

const CASES: readonly { name: string; state: State; received: Received; expected: State; changes?: Change[] }[] = [
  {
    name: "stores an object of the initial list and marks it as seen",
    state: initial(),
    received: event("ADDED", A),
    expected: initial("a"),
    changes: [{ do: "set", object: A }],
  },
  {
    name: "stores a change during the initial list",
    state: initial("a"),
    received: event("MODIFIED", A),
    expected: initial("a"),
    changes: [{ do: "set", object: A }],
  },
  {
    name: "deletes an object during the initial list",
    state: initial("a", "b"),
    received: event("DELETED", A),
    expected: initial("b"),
    changes: [{ do: "delete", object: A }],
  },
  {
    name: "ignores a bookmark during the initial list",
    state: initial("a"),
    received: bookmark("9"),
    expected: initial("a"),
  },
  {
    name: "removes unseen objects at the end of the initial list",
    state: initial("a"),
    received: bookmark("9", { "k8s.io/initial-events-end": "true" }),
    expected: { at: "live", streams: true, resourceVersion: "9" },
    changes: [{ do: "retain", seen: new Set(["a"]), resourceVersion: "9" }],
  },
  {
    name: "starts over when the initial list is interrupted",
    state: initial("a"),
    received: { type: "end" },
    expected: START,
  },
  {
    name: "starts over when the initial list expires",
    state: initial("a"),
    received: { type: "expiry" },
    expected: START,
  },
  {
    name: "lists page by page when a streaming list is rejected",
    state: initial(),
    received: { type: "rejection", isPermanent: true },
    expected: paging(undefined),
  },
  {
    name: "stores a first page and requests the next",
    state: { at: "start", streams: false },
    received: page([A], "more"),
    expected: paging("more", "a"),
    changes: [{ do: "set", object: A }],
  },
  {
    name: "ends the list with the last page and the keys of all pages",
    state: paging("more", "a"),
    received: page([B], undefined),
    expected: { at: "live", streams: false, resourceVersion: "9" },
    changes: [{ do: "set", object: B }, { do: "retain", seen: new Set(["a", "b"]), resourceVersion: "9" }],
  },
  {
    name: "removes all objects after an empty list",
    state: { at: "start", streams: false },
    received: page([], undefined),
    expected: { at: "live", streams: false, resourceVersion: "9" },
    changes: [{ do: "retain", seen: new Set(), resourceVersion: "9" }],
  },
  {
    name: "starts over page by page when pages expire",
    state: paging("more", "a"),
    received: { type: "expiry" },
    expected: { at: "start", streams: false },
  },
  {
    name: "starts over page by page when pages are interrupted",
    state: paging("more", "a"),
    received: { type: "end" },
    expected: { at: "start", streams: false },
  },
  {
    name: "advances the version with an event",
    state: LIVE,
    received: event("MODIFIED", A),
    expected: { ...LIVE, resourceVersion: "6" },
    changes: [{ do: "set", object: A }],
  },
  {
    name: "advances the version with a deletion",
    state: LIVE,
    received: event("DELETED", B),
    expected: { ...LIVE, resourceVersion: "7" },
    changes: [{ do: "delete", object: B }],
  },
  {
    name: "advances the version with a bookmark",
    state: LIVE,
    received: bookmark("8"),
    expected: { ...LIVE, resourceVersion: "8" },
  },
  { name: "resumes a live watch that ends", state: LIVE, received: { type: "end" }, expected: LIVE },
  { name: "lists again when the version expires", state: LIVE, received: { type: "expiry" }, expected: START },
  {
    name: "lists page by page if streaming was rejected before",
    state: PAGED,
    received: { type: "expiry" },
    expected: { at: "start", streams: false },
  },
  {
    name: "ignores an event of an unknown type",
    state: LIVE,
    received: event("NEWS" as WatchEvent["type"], A),
    expected: LIVE,
  },
];

for (const { name, state, received, expected, changes = [] } of CASES) {
  Deno.test(`step ${name}`, () => assert.deepEqual(step(state, received), { state: expected, changes }));
}

function object(name: string, resourceVersion: string): KubeObject {
  const metadata = { name, resourceVersion, uid: name, creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

function initial(...seen: string[]): State {
  return { at: "initial", streams: true, seen: new Set(seen) };
}

function paging(next: string | undefined, ...seen: string[]): State {
  return { at: "paging", streams: false, seen: new Set(seen), next };
}

function event(type: WatchEvent["type"], object: KubeObject): Received {
  return { type: "event", event: { type, object } };
}

function bookmark(resourceVersion: string, annotations?: Record<string, string>): Received {
  const { metadata, ...rest } = object("", resourceVersion);
  return event("BOOKMARK", { ...rest, metadata: { ...metadata, ...(annotations && { annotations }) } });
}

function page(items: KubeObject[], next: string | undefined): Received {
  return { type: "page", items, resourceVersion: "9", next };
}
