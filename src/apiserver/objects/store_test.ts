import assert from "node:assert/strict";
import type { StoredObject } from "./objects.ts";
import { type Change, CompactedError, Store } from "./store.ts";

function object(name: string, value = 0): StoredObject {
  const metadata = { name, uid: name, resourceVersion: "", creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "Thing", metadata, value };
}

function names(objects: readonly StoredObject[]): string[] {
  return objects.map(({ metadata, value }) => `${metadata.name}${value}`);
}

Deno.test("Store increments one revision for all collections", () => {
  const store = new Store();

  const versions = [
    store.put("a", "x", object("x")),
    store.put("b", "x", object("x")),
    store.put("a", "x", object("x", 1)),
  ]
    .map(({ metadata }) => Number(metadata.resourceVersion));

  assert.deepEqual(versions, [2, 3, 4]);
  assert.equal(store.delete("a", "x")?.metadata.resourceVersion, "5");
  assert.equal(store.delete("a", "x"), undefined);
  assert.equal(store.revision, 5);
});

Deno.test("Store lists objects by prefix, in the order of their keys", () => {
  const store = new Store();
  for (const key of ["b/y", "a/x", "b/x"]) store.put("c", key, object(key));

  assert.deepEqual(names(store.list("c")), ["a/x0", "b/x0", "b/y0"]);
  assert.deepEqual(names(store.list("c", "b/")), ["b/x0", "b/y0"]);
});

Deno.test("Store lists a collection at an earlier revision", () => {
  const store = new Store();
  store.put("c", "a", object("a", 1));
  store.put("c", "b", object("b", 1));
  const earlier = store.revision;
  store.put("c", "a", object("a", 2));
  store.delete("c", "b");
  store.put("c", "d", object("d", 1));

  assert.deepEqual(names(store.listAt("c", earlier)), ["a1", "b1"]);
  assert.deepEqual(names(store.list("c")), ["a2", "d1"]);
});

Deno.test("Store reports changes in order, and returns past changes until they are compacted", () => {
  const store = new Store();
  const received: Change[] = [];
  const subscription = store.listen((change) => received.push(change));
  store.put("c", "a", object("a", 1));
  const first = store.revision;
  store.put("c", "a", object("a", 2));
  store.put("other", "z", object("z"));
  subscription[Symbol.dispose]();
  store.delete("c", "a");

  assert.deepEqual(received.map(({ type, key }) => `${type} ${key}`), ["ADDED a", "MODIFIED a", "ADDED z"]);
  assert.deepEqual(store.changesSince(first, "c").map(({ type, previous }) => [type, previous?.value]), [
    ["MODIFIED", 1],
    ["DELETED", 2],
  ]);
  store.compact();
  assert.throws(() => store.changesSince(first, "c"), CompactedError);
  assert.deepEqual(store.changesSince(store.revision, "c"), []);
});
