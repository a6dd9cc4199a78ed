import assert from "node:assert/strict";
import fc from "../../tests/schemas/_property.ts";
import type { KubeObject } from "../resource/kind.ts";
import { Store } from "./store.ts";

Deno.test("Store answers what changed when an object comes, changes and goes", () => {
  const store = new Store();
  const [first, second] = [object("a", "1"), object("a", "2")];
  assert.deepEqual(store.set(first), { before: undefined, after: first });
  assert.deepEqual(store.set(second), { before: first, after: second });
  assert.deepEqual(store.delete(object("a", "3")), { before: second, after: undefined });
  assert.equal(store.size, 0);
});

Deno.test("Store holds what is kept of an object, and asks for it only where the object is news", () => {
  const store = new Store();
  const asked: KubeObject[] = [];
  const kept = (whole: KubeObject): KubeObject => {
    asked.push(whole);
    return { ...whole, metadata: { ...whole.metadata, labels: { kept: "yes" } } };
  };
  const whole = object("a", "2");
  const held = { ...whole, metadata: { ...whole.metadata, labels: { kept: "yes" } } };
  assert.deepEqual(store.set(whole, kept), { before: undefined, after: held });
  assert.deepEqual(store.get("default/a"), held);
  assert.equal(store.set(object("a", "2"), kept), undefined);
  assert.equal(store.set(object("a", "1"), kept), undefined);
  assert.deepEqual(asked, [whole]);
});

const IGNORED: readonly { name: string; held: string; act: (store: Store) => unknown }[] = [
  { name: "what it holds already", held: "5", act: (store) => store.set(object("a", "5")) },
  { name: "what is older than what it holds", held: "10", act: (store) => store.set(object("a", "9")) },
  { name: "a deletion older than what it holds", held: "10", act: (store) => store.delete(object("a", "9")) },
  { name: "a deletion of what it does not hold", held: "10", act: (store) => store.delete(object("b", "11")) },
  {
    name: "what is missing in a listing older than it",
    held: "10",
    act: (store) => store.retain(new Set(), "9")[0],
  },
];

for (const { name, held, act } of IGNORED) {
  Deno.test(`Store ignores ${name}`, () => {
    const store = new Store();
    store.set(object("a", held));
    assert.equal(act(store), undefined);
    assert.equal(store.get("default/a")?.metadata.resourceVersion, held);
  });
}

Deno.test("Store takes a change whose version does not compare", () => {
  const store = new Store();
  store.set(object("a", "x1"));
  store.set(object("a", "x0"));
  assert.equal(store.get("default/a")?.metadata.resourceVersion, "x0");
});

Deno.test("Store retains what a listing had and tells what went", () => {
  const store = new Store();
  for (const [name, version] of [["kept", "1"], ["gone", "2"], ["written since", "10"]] as const) {
    store.set(object(name, version));
  }
  const went = store.retain(new Set(["default/kept"]), "5");
  assert.deepEqual(went.map(({ before, after }) => [before?.metadata.name, after]), [["gone", undefined]]);
  assert.deepEqual([...store.values()].map(({ metadata }) => metadata.name), ["kept", "written since"]);
});

Deno.test("Store does not bring back what our own write deleted", async (t) => {
  const late: readonly { name: string; events: (store: Store) => void; isBack: boolean }[] = [
    { name: "by an earlier event", events: (store) => store.set(object("a", "19")), isBack: false },
    {
      name: "by earlier events of an earlier incarnation",
      events: (store) => {
        store.delete(object("a", "15", "earlier"));
        store.set(object("a", "16"));
        store.set(object("a", "12", "earlier"));
      },
      isBack: false,
    },
    { name: "save when it is made anew", events: (store) => store.set(object("a", "21", "later")), isBack: true },
    {
      name: "save when it is made anew after the event",
      events: (store) => {
        store.delete(object("a", "20"));
        store.set(object("a", "21", "later"));
      },
      isBack: true,
    },
  ];
  for (const { name, events, isBack } of late) {
    await t.step(name, () => {
      const store = new Store();
      store.set(object("a", "10"));
      store.noteDeleted(object("a", "20"));
      events(store);
      assert.equal(store.get("default/a") !== undefined, isBack);
    });
  }
});

Deno.test("Store holds the newest of each object, in whatever order and however often they come", () => {
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
