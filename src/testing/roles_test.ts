import assert from "node:assert/strict";
import { access } from "../parts/access.ts";
import { controller } from "../parts/controller.ts";
import { ConfigMap, Namespace, Secret } from "../kinds/mod.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { memoryCluster, type MemoryClusterOptions } from "./memory_cluster.ts";
import { SettleError } from "./settle_error.ts";

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

async function createNote(options: MemoryClusterOptions = {}): Promise<void> {
  await using cluster = await memoryCluster({ parts: { notes }, ...options });
  await cluster.create(Secret, "text", {});
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  assert.equal((await cluster.get(ConfigMap, "a")).data?.text, "one text");
}

Deno.test("the generated roles allow everything that the operator declares", () => createNote());

const REMOVED: readonly { permission: string; where: string; reason: string }[] = [
  {
    permission: "watch notes.test.example.com",
    where: "in the whole cluster",
    reason: "notes watches its own kind Note",
  },
  { permission: "watch configmaps", where: "in the whole cluster", reason: "notes owns ConfigMap: watches it" },
  { permission: "create configmaps", where: 'in namespace "default"', reason: "notes owns ConfigMap: applies it" },
  { permission: "patch configmaps", where: 'in namespace "default"', reason: "notes owns ConfigMap: applies it" },
  { permission: "get secrets", where: 'in namespace "default"', reason: 'notes uses Secret: access(Secret, "get")' },
  {
    permission: "patch notes.test.example.com/status",
    where: 'in namespace "default"',
    reason: "notes writes the status of Note",
  },
];

for (const { permission, where, reason } of REMOVED) {
  Deno.test(`without "${permission}", settle reports the missing permission and its reason`, async () => {
    await assert.rejects(createNote({ rbac: { without: [permission] } }), (error) => {
      assert(error instanceof SettleError && error.code === "MissingPermissions");
      assert(error.details.includes(`${permission} ${where}`), String(error));
      assert(error.message.includes(`\n  ${permission} ${where} (${reason})\n`), String(error));
      return true;
    });
  });
}

Deno.test("a missing permission is reported once", async () => {
  const undeclared = controller(Note, {
    async reconcile(_note, context) {
      // deno-lint-ignore no-explicit-any -- The type does not allow it.
      await (context as any).get(ConfigMap, "a").catch(() => {});
      // deno-lint-ignore no-explicit-any -- The type does not allow it.
      await (context as any).client?.list?.(ConfigMap).catch(() => {});
    },
  });
  await using cluster = await memoryCluster({
    parts: { undeclared },
    rbac: { without: ["patch notes.test.example.com/status"] },
  });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await assert.rejects(cluster.settle(), {
    code: "MissingPermissions",
    details: ['patch notes.test.example.com/status in namespace "default"'],
  });
  await cluster.advance("0s");
});

Deno.test("rbac.without rejects a permission that the operator does not declare", async () => {
  await assert.rejects(createNote({ rbac: { without: ["patch configmap"] } }), {
    message:
      'memoryCluster(): rbac.without: the operator does not declare "patch configmap". Did you mean "patch configmaps"?',
  });
});

Deno.test('forbiddenRequests: "allow" and rbac: false let a test pass without a permission', async () => {
  await using cluster = await memoryCluster({
    parts: { notes },
    rbac: { without: ["create configmaps"] },
    forbiddenRequests: "allow",
  });
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await cluster.settle();
  assert(!await cluster.exists(ConfigMap, "a"));
  await createNote({ rbac: false });
});

Deno.test("the operator has its roles in each visible namespace, including one that is created later", async () => {
  await using cluster = await memoryCluster({ parts: { notes }, visibleNamespaces: ["default", "later"] });
  await cluster.create(Namespace, "later", {});
  await cluster.create(Note, "a", { spec: { text: "one" } }, { namespace: "later" });
  await cluster.create(Secret, "text", {}, { namespace: "later" });
  await cluster.advance("1m");
  assert((await cluster.get(ConfigMap, "a", { namespace: "later" })).data?.text);
});

Deno.test("ownerReferencesPermissionEnforcement requires the permission to block the deletion of an owner", async () => {
  await createNote({ ownerReferencesPermissionEnforcement: true });
  const without = { without: ["update notes.test.example.com/finalizers"] };
  await createNote({ rbac: without });
  await using cluster = await memoryCluster({
    parts: { notes },
    ownerReferencesPermissionEnforcement: true,
    rbac: without,
  });
  await cluster.create(Secret, "text", {});
  await cluster.create(Note, "a", { spec: { text: "one" } });
  await assert.rejects(
    cluster.settle(),
    { code: "MissingPermissions", details: ['update notes.test.example.com/finalizers in namespace "default"'] },
  );
});
