import assert from "node:assert/strict";
import type { WatchEvent } from "../kube/calls.ts";
import type { KubeObject } from "../resource/kind.ts";
import { type Change, type Incoming, START, type State, step } from "./step.ts";

const LIVE: State = { at: "live", streams: true, resourceVersion: "5" };
const PAGED: State = { at: "live", streams: false, resourceVersion: "5" };
const A = object("a", "6");
const B = object("b", "7");

const CASES: readonly { name: string; state: State; came: Incoming; then: State; changes?: Change[] }[] = [
  {
    name: "an object of the first listing is taken in and seen",
    state: initial(),
    came: event("ADDED", A),
    then: initial("a"),
    changes: [{ do: "set", object: A }],
  },
  {
    name: "a change during the first listing is taken in",
    state: initial("a"),
    came: event("MODIFIED", A),
    then: initial("a"),
    changes: [{ do: "set", object: A }],
  },
  {
    name: "a deletion during the first listing is seen no more",
    state: initial("a", "b"),
    came: event("DELETED", A),
    then: initial("b"),
    changes: [{ do: "delete", object: A }],
  },
  {
    name: "a bookmark that does not end the listing changes nothing",
    state: initial("a"),
    came: bookmark("9"),
    then: initial("a"),
  },
  {
    name: "the mark ends the listing: what was not seen is gone",
    state: initial("a"),
    came: bookmark("9", { "k8s.io/initial-events-end": "true" }),
    then: { at: "live", streams: true, resourceVersion: "9" },
    changes: [{ do: "retain", seen: new Set(["a"]), resourceVersion: "9" }],
  },
  { name: "a listing that breaks off starts over", state: initial("a"), came: { came: "end" }, then: START },
  { name: "a listing that is too old starts over", state: initial("a"), came: { came: "expiry" }, then: START },
  {
    name: "a refused streaming list becomes a paged one",
    state: initial(),
    came: { came: "refusal", isLasting: true },
    then: paging(undefined),
  },
  {
    name: "a first page is taken in, and the next is asked for",
    state: { at: "start", streams: false },
    came: page([A], "more"),
    then: paging("more", "a"),
    changes: [{ do: "set", object: A }],
  },
  {
    name: "the last page ends the listing with what all pages had",
    state: paging("more", "a"),
    came: page([B], undefined),
    then: { at: "live", streams: false, resourceVersion: "9" },
    changes: [{ do: "set", object: B }, { do: "retain", seen: new Set(["a", "b"]), resourceVersion: "9" }],
  },
  {
    name: "an empty list empties the store",
    state: { at: "start", streams: false },
    came: page([], undefined),
    then: { at: "live", streams: false, resourceVersion: "9" },
    changes: [{ do: "retain", seen: new Set(), resourceVersion: "9" }],
  },
  {
    name: "pages that expired start over as pages",
    state: paging("more", "a"),
    came: { came: "expiry" },
    then: { at: "start", streams: false },
  },
  {
    name: "pages that broke off start over as pages",
    state: paging("more", "a"),
    came: { came: "end" },
    then: { at: "start", streams: false },
  },
  {
    name: "an event moves a live watch on",
    state: LIVE,
    came: event("MODIFIED", A),
    then: { ...LIVE, resourceVersion: "6" },
    changes: [{ do: "set", object: A }],
  },
  {
    name: "a deletion moves a live watch on",
    state: LIVE,
    came: event("DELETED", B),
    then: { ...LIVE, resourceVersion: "7" },
    changes: [{ do: "delete", object: B }],
  },
  {
    name: "a bookmark moves a live watch on and changes nothing",
    state: LIVE,
    came: bookmark("8"),
    then: { ...LIVE, resourceVersion: "8" },
  },
  { name: "a live watch that ends goes on where it was", state: LIVE, came: { came: "end" }, then: LIVE },
  { name: "a live watch whose version is too old lists again", state: LIVE, came: { came: "expiry" }, then: START },
  {
    name: "it lists page by page where streaming was refused",
    state: PAGED,
    came: { came: "expiry" },
    then: { at: "start", streams: false },
  },
  {
    name: "an event of a type that is not known changes nothing",
    state: LIVE,
    came: event("NEWS" as WatchEvent["type"], A),
    then: LIVE,
  },
];

for (const { name, state, came, then, changes = [] } of CASES) {
  Deno.test(`step: ${name}`, () => assert.deepEqual(step(state, came), { state: then, changes }));
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

function event(type: WatchEvent["type"], object: KubeObject): Incoming {
  return { came: "event", event: { type, object } };
}

function bookmark(resourceVersion: string, annotations?: Record<string, string>): Incoming {
  const { metadata, ...rest } = object("", resourceVersion);
  return event("BOOKMARK", { ...rest, metadata: { ...metadata, ...(annotations && { annotations }) } });
}

function page(items: KubeObject[], next: string | undefined): Incoming {
  return { came: "page", items, resourceVersion: "9", next };
}
