import assert from "node:assert/strict";
import { CONFIG_MAPS, configMap, Wire } from "../_wire.ts";

async function owner(wire: Wire, name = "owner", metadata: object = {}): Promise<{ uid: string }> {
  return (await wire.post(CONFIG_MAPS, configMap(name, {}, metadata))).body.metadata;
}

function owned(name: string, by: { uid: string }, more: object = {}): object {
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: by.uid, ...more };
  return configMap(name, {}, { ownerReferences: [reference] });
}

async function names(wire: Wire, path = CONFIG_MAPS): Promise<string[]> {
  const { body } = await wire.get(path);
  return body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
}

Deno.test("dependents of a deleted owner are deleted, through all generations", async () => {
  await using wire = new Wire();
  const first = await owner(wire);
  const { body: child } = await wire.post(CONFIG_MAPS, owned("child", first));
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "child", uid: child.metadata.uid };
  await wire.post(CONFIG_MAPS, configMap("grandchild", {}, { ownerReferences: [reference] }));

  await wire.delete(`${CONFIG_MAPS}/owner`);
  await wire.settle();

  assert.deepEqual(await names(wire), []);
});

Deno.test("an owner deleted in the foreground is deleted after the dependents that block it", async () => {
  await using wire = new Wire();
  const first = await owner(wire);
  const blocking = owned("blocking", first, { blockOwnerDeletion: true }) as { metadata: object };
  await wire.post(CONFIG_MAPS, { ...blocking, metadata: { ...blocking.metadata, finalizers: ["demo.example.com/f"] } });
  await wire.post(CONFIG_MAPS, owned("free", first));

  await wire.delete(`${CONFIG_MAPS}/owner`, { propagationPolicy: "Foreground" });
  await wire.settle();
  const waiting = await names(wire);
  await wire.merge(`${CONFIG_MAPS}/blocking`, { metadata: { finalizers: null } });
  await wire.settle();

  assert.deepEqual(waiting, ["blocking", "owner"]);
  assert.deepEqual(await names(wire), []);
});

Deno.test("dependents of an owner deleted with Orphan stay and lose their owner reference", async () => {
  await using wire = new Wire();
  await wire.post(CONFIG_MAPS, owned("child", await owner(wire)));

  await wire.delete(`${CONFIG_MAPS}/owner`, { propagationPolicy: "Orphan" });
  await wire.settle();

  assert.deepEqual(await names(wire), ["child"]);
  assert.equal((await wire.get(`${CONFIG_MAPS}/child`)).body.metadata.ownerReferences, undefined);
});

Deno.test("an object with another owner stays, and loses the reference to the deleted one", async () => {
  await using wire = new Wire();
  const [first, second] = [await owner(wire), await owner(wire, "second")];
  const references = [["owner", first.uid], ["second", second.uid]].map(([name, uid]) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name,
    uid,
  }));
  await wire.post(CONFIG_MAPS, configMap("child", {}, { ownerReferences: references }));

  await wire.delete(`${CONFIG_MAPS}/owner`);
  await wire.settle();

  const { body } = await wire.get(`${CONFIG_MAPS}/child`);
  assert.deepEqual(body.metadata.ownerReferences.map((each: { name: string }) => each.name), ["second"]);
});

Deno.test("an object whose owner never existed is deleted, even if another object has the owner's name", async () => {
  await using wire = new Wire();
  await owner(wire);

  await wire.post(CONFIG_MAPS, owned("child", { uid: "11111111-1111-4111-8111-111111111111" }));
  await wire.settle();

  assert.deepEqual(await names(wire), ["owner"]);
});

Deno.test("the garbage collector looks up owners only in the dependent's namespace", async () => {
  await using wire = new Wire();
  await wire.post("/api/v1/namespaces", { metadata: { name: "other" } });
  const first = await owner(wire);

  await wire.post("/api/v1/namespaces/other/configmaps", owned("child", first));
  await wire.settle();

  assert.deepEqual(await names(wire, "/api/v1/namespaces/other/configmaps"), []);
  assert.deepEqual(await names(wire), ["owner"]);
});

Deno.test("deleting a namespace deletes its contents, rejects new objects, and then removes the namespace", async () => {
  await using wire = new Wire();
  await wire.post("/api/v1/namespaces", { metadata: { name: "shop" } });
  const path = "/api/v1/namespaces/shop/configmaps";
  await wire.post(path, configMap("a"));
  await wire.post(path, configMap("b", {}, { finalizers: ["demo.example.com/f"] }));

  const { body: marked } = await wire.delete("/api/v1/namespaces/shop");
  await wire.settle();
  const waiting = await names(wire, path);
  const rejected = await wire.post(path, configMap("c"));
  await wire.merge(`${path}/b`, { metadata: { finalizers: null } });
  await wire.settle();

  assert.equal(marked.status.phase, "Terminating");
  assert.deepEqual(waiting, ["b"]);
  assert.equal(rejected.status, 403);
  assert.equal(
    rejected.body.message,
    'configmaps "c" is forbidden: unable to create new content in namespace shop because it is being terminated',
  );
  assert.equal((await wire.get("/api/v1/namespaces/shop")).status, 404);
});
