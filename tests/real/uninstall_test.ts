/**
 * `op uninstall` on a real API server with the garbage collector, which deletes the dependents of
 * deleted objects. It reports dependents that still exist.
 */
import assert from "node:assert/strict";
import { mainModule, type OperatorFolder, operatorFolder } from "../../cli/_operator_folder.ts";
import { ClusterRole, ConfigMap, CustomResourceDefinition, Deployment } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { eventually } from "../eventually.ts";
import { adminClient } from "../fixtures/watched.ts";
import { untilServed } from "../fixtures/install.ts";

const ROOT = new URL("../../", import.meta.url).href;

/**
 * An operator that stores v1 and prefers v2, as in kubebuilder's tutorial. No pod runs, so the API
 * server gets no response to conversions.
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

/** Creates a project of {@linkcode MAIN}, and deploys it. */
async function createDeployedProject(cluster: RealCluster): Promise<OperatorFolder> {
  const folder = await operatorFolder();
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  await deploy(folder, MAIN);
  await untilServed(adminClient(cluster));
  return folder;
}

/** Generates the manifests of an operator, and deploys them. */
async function deploy(folder: OperatorFolder, main: string): Promise<void> {
  await folder.write("main.ts", main);
  for (const args of [["manifests"], ["overlay", "prod", "--force"]]) {
    const generated = await folder.op("generate", ...args);
    assert.equal(generated.code, 0, generated.stderr);
  }
  const { code, stderr } = await folder.op("deploy", "prod", "--no-wait", ...CLUSTER);
  assert.equal(code, 0, stderr);
}

/** Creates a Note as v1, which needs no conversion, and a ConfigMap that it owns. */
async function createNoteWithChild(client: Client, name: string, finalizers: readonly string[] = []): Promise<void> {
  const Note = await findKind(client, "notes.v1.demo.example.com");
  const place = { namespace: "default" };
  const { metadata: { uid = "" } } = await client.create(Note, { metadata: { name }, spec: { text: "a b" } }, place);
  const owner = { apiVersion: Note.apiVersion, kind: Note.kind, name, uid, controller: true };
  await client.create(ConfigMap, { metadata: { name, finalizers: [...finalizers], ownerReferences: [owner] } }, place);
}

Deno.test("op uninstall waits until the garbage collector has deleted children, even if conversions fail", async () => {
  await using cluster = await realCluster({ controllerManager: true });
  const client = adminClient(cluster);
  await using folder = await createDeployedProject(cluster);
  await createNoteWithChild(client, "one");

  const preview = await folder.op("uninstall", ...CLUSTER);
  assert.equal(preview.code, 2);
  assert.match(preview.stdout, /^would delete their dependents: 1 ConfigMap$/m);
  assert.match(
    preview.stderr,
    /^No object was deleted\. --yes would delete 1 object of the operator's kinds, 1 dependent of these, and \d+ objects of/,
  );

  const uninstalled = await folder.op("uninstall", "--yes", "--timeout", "3m", ...CLUSTER);
  assert.equal(uninstalled.code, 0, uninstalled.stdout + uninstalled.stderr);
  assert.deepEqual(await childrenIn(client), []);
  assert.deepEqual(await client.list(CustomResourceDefinition), []);
});

Deno.test("op uninstall reports children that still exist, and deletes neither the definition nor the operator", async (t) => {
  await using cluster = await realCluster({ controllerManager: true });
  const client = adminClient(cluster);
  await using folder = await createDeployedProject(cluster);
  await createNoteWithChild(client, "held", ["other.example.com/x"]);
  await createNoteWithChild(client, "free");

  await t.step("op uninstall fails and names the child with its finalizers", async () => {
    const failed = await folder.op("uninstall", "--yes", "--timeout", "2s", ...CLUSTER);
    assert.equal(failed.code, 1, failed.stdout);
    assert.match(failed.stderr, /^ConfigMap default\/held still exists, with finalizers .*other\.example\.com\/x$/m);
    assert.match(
      failed.stderr,
      /^Cannot uninstall "notes": dependents of the deleted objects \([12] ConfigMaps?\) still exist/m,
    );
    assert.match(failed.stderr, /--orphan-dependents/);
    const { spec } = await client.get(CustomResourceDefinition, "notes.demo.example.com");
    assert.equal(spec.conversion?.strategy, "Webhook", "the conversion was not restored");
    assert.equal((await client.list(Deployment, { namespace: "notes-system" })).length, 1);
  });

  await t.step("op uninstall --orphan-dependents deletes the definition and the operator", async () => {
    const uninstalled = await folder.op("uninstall", "--yes", "--orphan-dependents", ...CLUSTER);
    assert.equal(uninstalled.code, 0, uninstalled.stderr);
    assert.deepEqual(await client.list(CustomResourceDefinition), []);
    assert.deepEqual(await client.list(Deployment, { namespace: "notes-system" }), []);
  });
});

Deno.test("op uninstall does not delete objects that cannot be read, and names the flag that deletes them", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using folder = await createDeployedProject(cluster);
  await createNoteWithChild(client, "first");
  // From now on objects are stored as v2, so neither version can be listed without a conversion.
  const { spec } = await client.get(CustomResourceDefinition, "notes.demo.example.com");
  const versions = spec.versions.map((version) => ({ ...version, storage: version.name === "v2" }));
  await client.patch(CustomResourceDefinition, "notes.demo.example.com", { spec: { versions } });
  const NoteV2 = await findKind(client, "notes.v2.demo.example.com");
  const second = { metadata: { name: "second", namespace: "default" }, spec: { lines: ["a"] } };
  // Until the server has applied this change, it stores new objects as v1. That needs a conversion,
  // so the request fails.
  await eventually(() => client.create(NoteV2, second));

  const rejected = await folder.op("uninstall", "--yes", ...CLUSTER);
  assert.equal(rejected.code, 1, rejected.stdout);
  assert.match(rejected.stderr, /^Cannot uninstall "notes": the objects of notes\.demo\.example\.com cannot be read/);
  const uninstalled = await folder.op(
    "uninstall",
    "--yes",
    "--release-finalizers",
    "--orphan-dependents",
    "--timeout",
    "3m",
    ...CLUSTER,
  );
  assert.equal(uninstalled.code, 0, uninstalled.stdout + uninstalled.stderr);
  assert.match(uninstalled.stderr, /^Warning: left without an owner: 1 ConfigMap$/m);
  assert.deepEqual(await client.list(CustomResourceDefinition), []);
});

Deno.test("op uninstall --release-finalizers suspends webhooks and conversions that no process serves", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using folder = await createDeployedProject(cluster);
  const Note = await findKind(client, "notes.v1.demo.example.com");
  const metadata = { name: "one", finalizers: ["demo.example.com/notes.notes"] };
  await client.create(Note, { metadata, spec: { text: "a b" } }, { namespace: "default" });
  await deploy(
    folder,
    MAIN.replace("import { controller", "import { webhook, controller")
      .replace(
        "reconcile() {} });",
        "reconcile() {}, cleanup() {} });\nconst rules = webhook(Note, { validate() {} });",
      )
      .replace("parts: { notes,", "parts: { notes, rules,"),
  );
  // The API server applies the webhook configuration with a delay.
  const change = () => client.patch(Note, "one", { metadata: { labels: { a: "b" } } }, { namespace: "default" });
  await eventually(async () => assert.equal(await change().then(() => 200, ({ status }) => status), 500));

  const uninstalled = await folder.op("uninstall", "--yes", "--timeout", "2s", "--release-finalizers", ...CLUSTER);
  assert.equal(uninstalled.code, 0, uninstalled.stdout + uninstalled.stderr);
  assert.match(uninstalled.stdout, /^released {3}Note default\/one$/m);
  assert.deepEqual(await client.list(CustomResourceDefinition), []);
});

/**
 * Returns the source of an operator with a controller of Note, and optionally one of Task, which
 * the test removes later.
 */
const operatorOf = (hasTasks: boolean) => `
const names = { group: "demo.example.com", version: "v1" } as const;
const Note = resource({ ...names, kind: "Note", spec: s.object({}), status: s.object({}) });
const Task = resource({ ...names, kind: "Task", spec: s.object({}), status: s.object({}) });
const notes = controller(Note, { reconcile() {}, cleanup() {} });
const tasks = controller(Task, { reconcile() {}, cleanup() {} });
export default operator({ name: "notes", version: "1.0.0", parts: { notes${hasTasks ? ", tasks" : ""} } });
`;

Deno.test("op reports the finalizers of a removed controller, and removes them with --release-finalizers", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using folder = await operatorFolder(operatorOf(true));
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const op = (...args: string[]) => folder.op(...args, ...CLUSTER);
  const generate = () => folder.op("generate", "manifests");
  assert.equal((await generate()).code, 0);
  assert.equal((await folder.op("generate", "overlay", "prod")).code, 0);
  assert.equal((await op("deploy", "prod", "--no-wait")).code, 0);
  await untilServed(client);
  const Task = await findKind(client, "tasks.demo.example.com");
  const place = { namespace: "default" };
  const others = ["demo.example.com/notes-b.tasks", "other.example.com/notes.tasks"];
  const create = (name: string) => {
    const finalizers = ["demo.example.com/notes.tasks", ...others];
    return client.create(Task, { metadata: { name, finalizers }, spec: {} }, place);
  };
  const finalizersOf = async (name: string) => (await client.get(Task, name, place)).metadata.finalizers;
  await create("one");
  await folder.write("main.ts", mainModule(operatorOf(false)));
  assert.equal((await generate()).code, 0);

  await t.step("op deploy reports finalizers of a controller that the new version lacks", async () => {
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

  await t.step("op doctor and op uninstall report finalizers of a removed controller", async () => {
    const diagnosed = await op("doctor");
    assert.match(
      diagnosed.stdout,
      /^error {5}finalizers {3}1 object has finalizers of controllers .* \(Task default\/one\)/m,
    );
    const rejected = await op("uninstall", "--yes");
    assert.equal(rejected.code, 1);
    assert.match(
      rejected.stderr,
      /^Cannot uninstall "notes": 1 object has its finalizer and would not be deleted with it/,
    );
  });

  await t.step("op deploy --release-finalizers removes only the finalizers of the removed controller", async () => {
    const deployed = await op("deploy", "prod", "--no-wait", "--release-finalizers");
    assert.equal(deployed.code, 0, deployed.stderr);
    assert.match(deployed.stdout, /^released {3}Task default\/one$/m);
    assert.deepEqual(await finalizersOf("one"), others);
    assert.doesNotMatch((await op("doctor")).stdout, /finalizers of controllers/);
  });

  await t.step("op uninstall --release-finalizers removes only the finalizers of the removed controller", async () => {
    await create("two");
    const uninstalled = await op("uninstall", "--yes", "--release-finalizers");
    assert.equal(uninstalled.code, 0, uninstalled.stderr);
    assert.match(uninstalled.stdout, /^released {3}Task default\/two$/m);
    assert.deepEqual(await finalizersOf("two"), others);
  });
});

async function childrenIn(client: Client): Promise<string[]> {
  const maps = await client.list(ConfigMap, { namespace: "default" });
  return maps.filter(({ metadata }) => metadata.ownerReferences !== undefined).map(({ metadata }) => metadata.name);
}
