import assert from "node:assert/strict";
import fc from "../../tests/fixtures/property.ts";
import type { KubeObject } from "../resource/kind.ts";
import { Store } from "./store.ts";

Deno.test("Store returns the change when an object is added, changed and deleted", () => {
  const store = new Store();
  const [first, second] = [object("a", "1"), object("a", "2")];
  assert.deepEqual(store.set(first), { before: undefined, after: first });
  assert.deepEqual(store.set(second), { before: first, after: second });
  assert.deepEqual(store.delete(object("a", "3")), { before: second, after: undefined });
  assert.equal(store.size, 0);
});

Deno.test("Store transforms an object only if it is stored", () => {
  const store = new Store();
  const calls: KubeObject[] = [];
  const transform = (whole: KubeObject): KubeObject => {
    calls.push(whole);
    return { ...whole, metadata: { ...whole.metadata, labels: { transformed: "yes" } } };
  };
  const whole = object("a", "2");
  const stored = { ...whole, metadata: { ...whole.metadata, labels: { transformed: "yes" } } };
  assert.deepEqual(store.set(whole, transform), { before: undefined, after: stored });
  assert.deepEqual(store.get("default/a"), stored);
  assert.equal(store.set(object("a", "2"), transform), undefined);
  assert.equal(store.set(object("a", "1"), transform), undefined);
  assert.deepEqual(calls, [whole]);
});

const IGNORED: readonly { name: string; stored: string; act: (store: Store) => unknown }[] = [
  { name: "a stored version", stored: "5", act: (store) => store.set(object("a", "5")) },
  { name: "an older version", stored: "10", act: (store) => store.set(object("a", "9")) },
  { name: "a deletion of an older version", stored: "10", act: (store) => store.delete(object("a", "9")) },
  { name: "a deletion of an unknown object", stored: "10", act: (store) => store.delete(object("b", "11")) },
  {
    name: "a missing object in an older list",
    stored: "10",
    act: (store) => store.retain(new Set(), "9")[0],
  },
];

for (const { name, stored, act } of IGNORED) {
  Deno.test(`Store ignores ${name}`, () => {
    const store = new Store();
    store.set(object("a", stored));
    assert.equal(act(store), undefined);
    assert.equal(store.get("default/a")?.metadata.resourceVersion, stored);
  });
}

Deno.test("Store accepts a change whose version cannot be compared", () => {
  const store = new Store();
  store.set(object("a", "x1"));
  store.set(object("a", "x0"));
  assert.equal(store.get("default/a")?.metadata.resourceVersion, "x0");
});

Deno.test("Store removes the objects that are missing from a list, and returns them", () => {
  const store = new Store();
  for (const [name, version] of [["listed", "1"], ["missing", "2"], ["newer", "10"]] as const) {
    store.set(object(name, version));
  }
  const removed = store.retain(new Set(["default/listed"]), "5");
  assert.deepEqual(removed.map(({ before, after }) => [before?.metadata.name, after]), [["missing", undefined]]);
  assert.deepEqual([...store.values()].map(({ metadata }) => metadata.name), ["listed", "newer"]);
});

Deno.test("Store does not restore an object that an own write deleted", async (t) => {
  const late: readonly { name: string; events: (store: Store) => void; exists: boolean }[] = [
    { name: "because of an earlier event", events: (store) => store.set(object("a", "19")), exists: false },
    {
      name: "because of earlier events of another object with the same name",
      events: (store) => {
        store.delete(object("a", "15", "earlier"));
        store.set(object("a", "16"));
        store.set(object("a", "12", "earlier"));
      },
      exists: false,
    },
    { name: "unless it is recreated", events: (store) => store.set(object("a", "21", "later")), exists: true },
    {
      name: "unless it is recreated after the event",
      events: (store) => {
        store.delete(object("a", "20"));
        store.set(object("a", "21", "later"));
      },
      exists: true,
    },
  ];
  for (const { name, events, exists } of late) {
    await t.step(name, () => {
      const store = new Store();
      store.set(object("a", "10"));
      store.deleteOwn(object("a", "20"));
      events(store);
      assert.equal(store.get("default/a") !== undefined, exists);
    });
  }
});

Deno.test("Store keeps the newest version of each object in any order of events, with any repetitions", () => {
  const version = fc.record({ name: fc.constantFrom("a", "b"), version: fc.integer({ min: 1, max: 200 }) });
  fc.assert(fc.property(fc.array(version, { minLength: 1 }), (versions) => {
    const store = new Store();
    for (const { name, version } of versions) store.set(object(name, String(version)));
    for (const { name } of versions) {
      const newest = Math.max(...versions.filter((other) => other.name === name).map(({ version }) => version));
      assert.equal(store.get(`default/${name}`)?.metadata.resourceVersion, String(newest));
    }
  }));
});

function object(name: string, resourceVersion: string, uid = "u"): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", uid, resourceVersion, creationTimestamp: "2030-01-01T00:00:00Z" },
  };
}
