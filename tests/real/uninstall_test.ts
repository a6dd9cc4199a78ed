/**
 * `op uninstall` on a real API server with the garbage collector: what deleted objects owned is
 * deleted, or reported.
 */
import assert from "node:assert/strict";
import { mainModule, type OperatorFolder, operatorFolder } from "../../cli/_operator_folder.ts";
import { ClusterRole, ConfigMap, CustomResourceDefinition, Deployment } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import { adminClient } from "../fixtures/watched.ts";
import { established } from "../fixtures/install.ts";

const ROOT = new URL("../../", import.meta.url).href;

/**
 * Stores v1 and prefers v2, as in kubebuilder's tutorial. No pod runs, so conversions are not
 * answered.
 */
const MAIN = `import { controller, conversion, operator, resource, s } from "${ROOT}mod.ts";
import { ConfigMap } from "${ROOT}src/kinds/mod.ts";
const names = { group: "demo.example.com", kind: "Note" } as const;
const NoteV2 = resource({ ...names, version: "v2", spec: s.object({ lines: s.array(s.string()) }) });
const Note = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }), versions: [NoteV2] });
const noteV2 = conversion(NoteV2, Note, {
  up: ({ spec }) => ({ spec: { text: spec.lines.join(" ") } }),
  down: ({ spec }) => ({ spec: { lines: spec.text.split(" ") } }),
});
const notes = controller(Note, { owns: [ConfigMap], reconcile() {} });
export default operator({ name: "notes", version: "1.0.0", parts: { notes, noteV2 } });
`;
const CLUSTER = ["--kubeconfig", "kubeconfig"];

async function deployed(cluster: RealCluster): Promise<OperatorFolder> {
  const folder = await operatorFolder();
  await folder.write("main.ts", MAIN);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  for (const args of [["manifests"], ["overlay", "prod"]]) {
    const made = await folder.op("generate", ...args);
    assert.equal(made.code, 0, made.stderr);
  }
  const { code, stderr } = await folder.op("deploy", "prod", "--no-wait", ...CLUSTER);
  assert.equal(code, 0, stderr);
  await established(adminClient(cluster));
  return folder;
}

/** Creates a Note as v1, which needs no conversion, and a ConfigMap that it owns. */
async function noteWithChild(client: Client, name: string, finalizers: readonly string[] = []): Promise<void> {
  const Note = await findKind(client, "notes.v1.demo.example.com");
  const place = { namespace: "default" };
  const { metadata: { uid = "" } } = await client.create(Note, { metadata: { name }, spec: { text: "a b" } }, place);
  const owner = { apiVersion: Note.apiVersion, kind: Note.kind, name, uid, controller: true };
  await client.create(ConfigMap, { metadata: { name, finalizers: [...finalizers], ownerReferences: [owner] } }, place);
}

Deno.test("op uninstall has the garbage collector delete children although conversions are not answered", async () => {
  await using cluster = await realCluster({ controllerManager: true });
  const client = adminClient(cluster);
  await using folder = await deployed(cluster);
  await noteWithChild(client, "one");

  const told = await folder.op("uninstall", ...CLUSTER);
  assert.equal(told.code, 2);
  assert.match(told.stdout, /^would delete their dependents: 1 ConfigMap$/m);
  assert.match(
    told.stderr,
    /^No object was deleted\. --yes would delete 1 object of the operator's kinds, 1 dependent of these, and \d+ objects of/,
  );

  const gone = await folder.op("uninstall", "--yes", "--timeout", "3m", ...CLUSTER);
  assert.equal(gone.code, 0, gone.stdout + gone.stderr);
  assert.deepEqual(await childrenIn(client), []);
  assert.deepEqual(await client.list(CustomResourceDefinition), []);
});

Deno.test("op uninstall reports children that are not deleted, and leaves the kind and the operator", async (t) => {
  await using cluster = await realCluster({ controllerManager: true });
  const client = adminClient(cluster);
  await using folder = await deployed(cluster);
  await noteWithChild(client, "held", ["other.example.com/x"]);
  await noteWithChild(client, "free");

  await t.step("the exit code is 1, and no other object was deleted", async () => {
    const stuck = await folder.op("uninstall", "--yes", "--timeout", "2s", ...CLUSTER);
    assert.equal(stuck.code, 1, stuck.stdout);
    assert.match(stuck.stderr, /^ConfigMap default\/held still exists, with finalizers .*other\.example\.com\/x$/m);
    assert.match(
      stuck.stderr,
      /^Cannot uninstall "notes": dependents of the deleted objects \([12] ConfigMaps?\) still exist/m,
    );
    assert.match(stuck.stderr, /--orphan-dependents/);
    const { spec } = await client.get(CustomResourceDefinition, "notes.demo.example.com");
    assert.equal(spec.conversion?.strategy, "Webhook", "the conversion was not restored");
    assert.equal((await client.list(Deployment, { namespace: "notes-system" })).length, 1);
  });

  await t.step("--orphan-dependents deletes the rest", async () => {
    const gone = await folder.op("uninstall", "--yes", "--orphan-dependents", ...CLUSTER);
    assert.equal(gone.code, 0, gone.stderr);
    assert.deepEqual(await client.list(CustomResourceDefinition), []);
    assert.deepEqual(await client.list(Deployment, { namespace: "notes-system" }), []);
  });
});

Deno.test("op uninstall does not delete objects that cannot be read, and names the flag that deletes them", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using folder = await deployed(cluster);
  await noteWithChild(client, "first");
  // From now on objects are stored as v2, so neither version can be listed without a conversion.
  const { spec } = await client.get(CustomResourceDefinition, "notes.demo.example.com");
  const versions = spec.versions.map((version) => ({ ...version, storage: version.name === "v2" }));
  await client.patch(CustomResourceDefinition, "notes.demo.example.com", { spec: { versions } });
  const NoteV2 = await findKind(client, "notes.v2.demo.example.com");
  const second = { metadata: { name: "second", namespace: "default" }, spec: { lines: ["a"] } };
  // Until the server has applied this, storing it requires a conversion as well.
  await eventually(() => client.create(NoteV2, second));

  const refused = await folder.op("uninstall", "--yes", ...CLUSTER);
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(refused.stderr, /^Cannot uninstall "notes": the objects of notes\.demo\.example\.com cannot be read/);
  const gone = await folder.op(
    "uninstall",
    "--yes",
    "--release-finalizers",
    "--orphan-dependents",
    "--timeout",
    "3m",
    ...CLUSTER,
  );
  assert.equal(gone.code, 0, gone.stdout + gone.stderr);
  assert.match(gone.stderr, /^Warning: left without an owner: 1 ConfigMap$/m);
  assert.deepEqual(await client.list(CustomResourceDefinition), []);
});

/**
 * Creates an operator with a controller of Note, and one of Task, which a later version may lack.
 */
const tasked = (hasTasks: boolean) => `
const names = { group: "demo.example.com", version: "v1" } as const;
const Note = resource({ ...names, kind: "Note", spec: s.object({}), status: s.object({}) });
const Task = resource({ ...names, kind: "Task", spec: s.object({}), status: s.object({}) });
const notes = controller(Note, { reconcile() {}, cleanup() {} });
const tasks = controller(Task, { reconcile() {}, cleanup() {} });
export default operator({ name: "notes", version: "1.0.0", parts: { notes${hasTasks ? ", tasks" : ""} } });
`;

Deno.test("finalizers of a removed controller on a kind that is no longer declared are reported and released", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using folder = await operatorFolder(tasked(true));
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const op = (...args: string[]) => folder.op(...args, ...CLUSTER);
  const generate = () => folder.op("generate", "manifests");
  assert.equal((await generate()).code, 0);
  assert.equal((await folder.op("generate", "overlay", "prod")).code, 0);
  assert.equal((await op("deploy", "prod", "--no-wait")).code, 0);
  await established(client);
  const Task = await findKind(client, "tasks.demo.example.com");
  const place = { namespace: "default" };
  const others = ["demo.example.com/notes-b.tasks", "other.example.com/notes.tasks"];
  const create = (name: string) => {
    const finalizers = ["demo.example.com/notes.tasks", ...others];
    return client.create(Task, { metadata: { name, finalizers }, spec: {} }, place);
  };
  const finalizersOf = async (name: string) => (await client.get(Task, name, place)).metadata.finalizers;
  await create("one");
  await folder.write("main.ts", mainModule(tasked(false)));
  assert.equal((await generate()).code, 0);

  await t.step("op deploy reports them when it deploys a version without the controller", async () => {
    const deployed = await op("deploy", "prod", "--no-wait");
    assert.equal(deployed.code, 0, deployed.stderr);
    assert.match(
      deployed.stderr,
      /^Warning: 1 object has finalizers of controllers that this version of "notes" no longer has \(Task default\/one\), /m,
    );
    assert.equal((await finalizersOf("one"))?.length, 3);
    const line = "deleted    ClusterRole notes-tasks-viewer (this version does not have its kind)";
    assert(deployed.stdout.includes(line), deployed.stdout);
    const roles = (await client.list(ClusterRole)).map(({ metadata }) => metadata.name);
    assert.deepEqual(roles.filter((name) => name.startsWith("notes-")), [
      "notes-notes-admin",
      "notes-notes-editor",
      "notes-notes-viewer",
    ]);
  });

  await t.step("op doctor and op uninstall report them", async () => {
    const looked = await op("doctor");
    assert.match(
      looked.stdout,
      /^error {5}finalizers {3}1 object has finalizers of controllers .* \(Task default\/one\)/m,
    );
    const refused = await op("uninstall", "--yes");
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /^Cannot uninstall "notes": 1 object has its finalizer and would not be deleted with it/,
    );
  });

  await t.step("op deploy --release-finalizers removes them, and no others", async () => {
    const deployed = await op("deploy", "prod", "--no-wait", "--release-finalizers");
    assert.equal(deployed.code, 0, deployed.stderr);
    assert.match(deployed.stdout, /^released {3}Task default\/one$/m);
    assert.deepEqual(await finalizersOf("one"), others);
    assert.doesNotMatch((await op("doctor")).stdout, /finalizers of controllers/);
  });

  await t.step("op uninstall --release-finalizers removes them too", async () => {
    await create("two");
    const gone = await op("uninstall", "--yes", "--release-finalizers");
    assert.equal(gone.code, 0, gone.stderr);
    assert.match(gone.stdout, /^released {3}Task default\/two$/m);
    assert.deepEqual(await finalizersOf("two"), others);
  });
});

async function childrenIn(client: Client): Promise<string[]> {
  const maps = await client.list(ConfigMap, { namespace: "default" });
  return maps.filter(({ metadata }) => metadata.ownerReferences !== undefined).map(({ metadata }) => metadata.name);
}
