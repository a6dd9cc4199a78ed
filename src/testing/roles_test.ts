import assert from "node:assert/strict";
import { access } from "../parts/access.ts";
import { controller } from "../parts/controller.ts";
import { ConfigMap, Namespace, Secret } from "../kinds/mod.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { memoryCluster, type MemoryClusterOptions } from "./memory_cluster.ts";

const Note = resource({
  group: "test.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
  status: s.object({}),
});

const notes = controller(Note, {
  owns: [ConfigMap],
  uses: [access(Secret, "get")],
  async reconcile(note, { apply, get }) {
    const { name, namespace } = note.metadata;
    const secret = await get(Secret, "text", { namespace: namespace! });
    await apply(ConfigMap, { metadata: { name }, data: { text: `${note.spec.text} ${secret?.metadata.name}` } });
  },
});

async function lifeOfNote(options: MemoryClusterOptions = {}): Promise<void> {
  await using cluster = await memoryCluster({ parts: { notes }, ...options });
  await cluster.create(Secret, "text", {});
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one text");
}

Deno.test("memoryCluster lets the operator do what it declares", () => lifeOfNote());

const TAKEN: readonly { right: string; where: string; why: string }[] = [
  { right: "watch notes.test.example.com", where: "in the whole cluster", why: "notes watches its own kind Note" },
  { right: "watch configmaps", where: "in the whole cluster", why: "notes owns ConfigMap: watches it" },
  { right: "create configmaps", where: 'in namespace "default"', why: "notes owns ConfigMap: applies it" },
  { right: "patch configmaps", where: 'in namespace "default"', why: "notes owns ConfigMap: applies it" },
  { right: "get secrets", where: 'in namespace "default"', why: 'notes uses Secret: access(Secret, "get")' },
  {
    right: "patch notes.test.example.com/status",
    where: 'in namespace "default"',
    why: "notes writes the status of Note",
  },
];

for (const { right, where, why } of TAKEN) {
  Deno.test(`memoryCluster without "${right}" says that this line is missing, and who needs it`, async () => {
    await assert.rejects(lifeOfNote({ rbac: { without: [right] } }), (error) => {
      assert((error as Error).message.includes(`\n  missing line: ${right} ${where} (${why})\n`), String(error));
      return true;
    });
  });
}

Deno.test("memoryCluster says what to declare where the operator reaches beyond its declarations", async () => {
  const sly = controller(Note, {
    async reconcile(_note, context) {
      // deno-lint-ignore no-explicit-any -- past the compiler, which refuses it
      await (context as any).get(ConfigMap, "a").catch(() => {});
      // deno-lint-ignore no-explicit-any -- likewise
      await (context as any).client?.list?.(ConfigMap).catch(() => {});
    },
  });
  await using cluster = await memoryCluster({
    parts: { sly },
    rbac: { without: ["patch notes.test.example.com/status"] },
  });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await assert.rejects(cluster.settle(), /missing line: patch notes\.test\.example\.com\/status/);
  await cluster.advance("0s"); // told once
});

Deno.test("memoryCluster refuses a right to leave out that there is not", async () => {
  await assert.rejects(lifeOfNote({ rbac: { without: ["patch configmap"] } }), {
    message:
      'Cannot leave out the right "patch configmap": the operator has none of that name: did you mean "patch configmaps"?',
  });
});

Deno.test('memoryCluster with refusals: "allow", or with rbac: false, does not fail for what roles refuse', async () => {
  await using cluster = await memoryCluster({
    parts: { notes },
    rbac: { without: ["create configmaps"] },
    refusals: "allow",
  });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  assert(!await cluster.exists(ConfigMap, "a"));
  await lifeOfNote({ rbac: false });
});

Deno.test("memoryCluster gives rights in the namespaces that the operator looks at, also in one that is made later", async () => {
  await using cluster = await memoryCluster({ parts: { notes }, namespacesSeen: ["default", "later"] });
  await cluster.create(Namespace, "later", {});
  await cluster.create(Note, "a", { spec: { text: "one" } }, { namespace: "later" });
  await cluster.create(Secret, "text", {}, { namespace: "later" });
  await cluster.advance("1m");
  assert((await cluster.get(ConfigMap, "a", { namespace: "later" })).data?.text);
});

Deno.test("memoryCluster with checksOwners asks who may block the deletion of an owner", async () => {
  await lifeOfNote({ checksOwners: true });
  const without = { without: ["update notes.test.example.com/finalizers"] };
  await lifeOfNote({ rbac: without });
  await using cluster = await memoryCluster({ parts: { notes }, checksOwners: true, rbac: without });
  await cluster.create(Secret, "text", {});
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await assert.rejects(
    cluster.settle(),
    /missing line: update notes\.test\.example\.com\/finalizers in namespace "default"/,
  );
});
