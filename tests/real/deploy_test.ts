/** `op deploy`, `op rbac verify --cluster` and `op uninstall` on a real API server. */
import assert from "node:assert/strict";
import { operatorFolder } from "../../cli/_operator_folder.ts";
import { kustomize } from "../../cli/kustomize/kustomize.ts";
import type { PlainObject } from "../../cli/objects.ts";
import { ClusterRole, CustomResourceDefinition, Deployment, Namespace } from "../../src/kinds/mod.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { eventually } from "../eventually.ts";
import { untilServed } from "../fixtures/install.ts";
import { kubectlKustomize } from "./_kubectl.ts";

const MAIN = `
const Note = resource({ group: "demo.example.com", version: "v1", kind: "Note", spec: s.object({ text: s.string() }), status: s.object({}) });
const notes = controller(Note, { owns: [ConfigMap], reconcile() {}, cleanup() {} });
export default operator({ name: "notes", version: "1.2.0", parts: { notes } });
`;

const OVERLAY = `
resources:
  - ../../base
  - extra.yaml
images:
  - name: notes
    newName: registry.example.com:5000/team/notes
    newTag: "7"
replicas:
  - name: notes
    count: 3
namespace: apart
patches:
  - target: { kind: Deployment, name: no.* }
    patch: |
      - op: add
        path: /spec/template/spec/containers/0/args/-
        value: --log-level=debug
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: notes
        namespace: notes-system
        annotations: { team: a }
      spec:
        template:
          spec:
            priorityClassName: system-cluster-critical
            containers:
              - name: operator
                env: [{ name: LEVEL, value: debug }]
                resources: { limits: { memory: 512Mi } }
  - path: patch.yaml
    target: { group: policy, version: v1, kind: PodDisruptionBudget }
`;

Deno.test("op deploy installs an operator, op rbac verify checks its permissions, op uninstall removes it", async (t) => {
  await using cluster = await realCluster({ controllerManager: true });
  await using folder = await operatorFolder(MAIN);
  const client = adminClient(cluster);
  await folder.write("kubeconfig", cluster.admin.kubeconfig);
  const op = (...args: string[]) => folder.op(...args, "--kubeconfig", "kubeconfig");
  assert.equal((await folder.op("generate", "manifests")).code, 0);
  assert.equal((await folder.op("generate", "overlay", "prod")).code, 0);

  await t.step("op builds an overlay as kubectl kustomize does, and rejects an unsupported field", async () => {
    assert.equal((await folder.op("generate", "overlay", "rich")).code, 0);
    const rich = `${folder.path}/config/overlays/rich`;
    await Deno.writeTextFile(`${rich}/kustomization.yaml`, OVERLAY);
    await Deno.writeTextFile(`${rich}/patch.yaml`, "- { op: replace, path: /spec/maxUnavailable, value: 2 }\n");
    await Deno.writeTextFile(
      `${rich}/extra.yaml`,
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra }\ndata: { a: b }\n",
    );
    for (const overlay of ["prod", "rich"]) {
      const path = `${folder.path}/config/overlays/${overlay}`;
      assert.deepEqual(sortByKindAndName(await kustomize(path)), sortByKindAndName(await kubectlKustomize(path)));
    }
    await Deno.writeTextFile(`${rich}/kustomization.yaml`, "resources: [../../base]\nvars: [{ name: A }]\n");
    const rejected = await op("deploy", "rich");
    assert.equal(rejected.code, 1);
    assert.match(
      rejected.stderr,
      /the field "vars" is not supported\. Run: kubectl kustomize .*rich \| op deploy -\n$/,
    );
  });

  await t.step("op deploy --dry-run reports the changes, and makes none", async () => {
    const result = await op("deploy", "prod", "--dry-run");
    assert.equal(result.code, 0, result.stderr);
    assert.match(result.stdout, /^Would apply 15 objects to https:/);
    assert.match(
      result.stdout,
      /created {4}Deployment notes-system\/notes \(not validated: its namespace would be created first\)/,
    );
    assert.deepEqual((await client.list(CustomResourceDefinition)).length, 0);
  });

  await t.step("op deploy creates the objects, and a second deploy changes none", async () => {
    const applied = await op("deploy", "prod", "--no-wait");
    assert.equal(applied.code, 0, applied.stderr);
    assert.equal(applied.stdout.match(/^ {2}created /gm)?.length, 15);
    const again = await op("deploy", "prod", "--no-wait");
    assert.deepEqual([again.stdout.match(/unchanged /g)?.length, again.stderr], [15, ""], again.stdout);
  });

  await t.step(
    "op deploy rejects a definition that breaks stored objects, also in a dry run, unless --allow-breaking is set",
    async () => {
      await untilServed(client);
      const Note = await findKind(client, "notes.demo.example.com");
      for (const name of ["a", "b"]) {
        await client.create(Note, { metadata: { name, namespace: "default" }, spec: { text: name } });
      }
      const printed = (await folder.op("crd", "print")).stdout;
      await folder.write("renamed.yaml", printed.replaceAll("text", "words"));
      for (const flags of [[], ["--dry-run"]]) {
        const rejected = await op("deploy", "renamed.yaml", ...flags);
        assert.equal(rejected.code, 1);
        assert.match(rejected.stderr, /^Cannot apply breaking changes: 2 of 2 stored objects /);
        assert.match(rejected.stderr, /^ {2}spec\.text is dropped: 2 objects, for example Note default\/a$/m);
        assert.match(rejected.stderr, /--allow-breaking\.\n$/);
      }
      assert.deepEqual((await client.list(Note)).map(({ spec }) => spec), [{ text: "a" }, { text: "b" }]);

      const dry = await op("deploy", "renamed.yaml", "--dry-run", "--allow-breaking");
      assert.deepEqual([dry.code, /^Warning: 2 of 2 stored objects /.test(dry.stderr)], [0, true]);
      const result = await op("deploy", "renamed.yaml", "--no-wait", "--allow-breaking");
      assert.equal(result.code, 0, result.stderr);
      for (const { metadata: { name } } of await client.list(Note)) {
        await client.delete(Note, name, { namespace: "default" });
      }
      await folder.write("crds.yaml", printed);
      assert.equal((await op("deploy", "crds.yaml", "--no-wait")).code, 0);

      await folder.write(
        "moved.yaml",
        printed.replaceAll("v1\n", "v2\n").replace("apiextensions.k8s.io/v2", "apiextensions.k8s.io/v1"),
      );
      const moved = await op("deploy", "moved.yaml", "--allow-breaking");
      assert.equal(moved.code, 1);
      assert.match(moved.stderr, /objects may be stored in version "v1", .* \(0 objects in the cluster\)\. Keep "v1"/);
    },
  );

  await t.step("op deploy reports a Deployment that is not available at the timeout", async () => {
    await eventually(async () => {
      const { metadata, status } = await client.get(Deployment, "notes", { namespace: "notes-system" });
      assert.equal(status?.observedGeneration, metadata.generation);
    });
    const late = await op("deploy", "prod", "--timeout", "2");
    assert.equal(late.code, 1);
    assert.match(
      late.stderr,
      /^The operator was not ready within 2 s: Deployment notes has 0 of 1 replicas available\. See/,
    );
  });

  await t.step("op deploy reports the name of a field that the server does not know", async () => {
    await folder.write(
      "wrong.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x, namespace: default }\ndate: {}\n",
    );
    const rejected = await op("deploy", "wrong.yaml");
    assert.equal(rejected.code, 1);
    assert.match(
      rejected.stderr,
      /^Cannot apply ConfigMap "default\/x": the apiserver answered .*(unknown field|field not declared in schema)/,
    );
  });

  await t.step("op rbac verify --cluster reads the account's permissions", async () => {
    const verified = await op("rbac", "verify", "--cluster", "--as", "notes-system:notes", "--exact");
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const { rules = [] } = await client.get(ClusterRole, "notes");
    await client.patch(ClusterRole, "notes", { rules: rules.slice(1) });
    const less = await op("rbac", "verify", "--cluster", "--as", "notes-system:notes");
    assert.equal(less.code, 1);
    assert.deepEqual(less.stdout.match(/MISSING {2}\w+/g), ["MISSING  list", "MISSING  watch", "MISSING  patch"]);
    assert.equal((await op("rbac", "verify", "--cluster", "--as", "default:notes")).code, 1);
  });

  await t.step("op uninstall lists what it would delete before it does", async () => {
    const Note = await findKind(client, "notes.demo.example.com");
    for (
      const [name, finalizers] of [["free", []], ["held", [
        "demo.example.com/notes.notes",
        "other.example.com/x",
      ]]] as const
    ) {
      await client.create(Note, { metadata: { name, namespace: "default", finalizers }, spec: { text: "a" } });
    }
    const result = await op("uninstall");
    assert.equal(result.code, 2);
    assert.match(result.stdout, /^would delete Note default\/free$/m);
    assert.match(
      result.stderr,
      /^No object was deleted\. --yes would delete 2 objects of the operator's kinds, 0 dependents of these, and 15 objects of "notes" itself from https:/,
    );
    assert.equal((await client.list(Note)).length, 2);
  });

  await t.step(
    "op uninstall stops at an object that is not cleaned up, and leaves the operator installed",
    async () => {
      const stuck = await op("uninstall", "--yes", "--timeout", "1");
      assert.equal(stuck.code, 1);
      assert.match(stuck.stdout, /^deleted {4}Note default\/free$/m);
      assert.match(
        stuck.stderr,
        /^Note default\/held has finalizers: demo\.example\.com\/notes\.notes, other\.example\.com\/x$/m,
      );
      assert.match(stuck.stderr, /the operator did not clean up 1 object within 1 s\./);
      assert.equal((await client.list(Deployment, { namespace: "notes-system" })).length, 1);
    },
  );

  await t.step("op uninstall removes its own finalizers on request, and all its objects are deleted", async () => {
    const Note = await findKind(client, "notes.demo.example.com");
    await client.patch(Note, "held", {
      metadata: { finalizers: ["demo.example.com/notes.notes"] },
    }, { namespace: "default" });
    const uninstalled = await op("uninstall", "--yes", "--timeout", "1", "--release-finalizers");
    assert.equal(uninstalled.code, 0, uninstalled.stderr);
    assert.match(uninstalled.stdout, /^released {3}Note default\/held$/m);
    assert.equal(
      (await client.list(ClusterRole)).filter(({ metadata }) => metadata.name.startsWith("notes")).length,
      0,
    );
    const left = await op("uninstall");
    // The namespace and the definitions are deleted once their controllers have processed the
    // contents.
    if (left.code === 0) assert.match(left.stdout, /^Nothing to delete: "notes" is not in https:/);
    else assert.match(left.stdout, /^(would delete (Namespace|CustomResourceDefinition) \S+\n)+$/);
    const [space] = (await client.list(Namespace)).filter(({ metadata }) => metadata.name === "notes-system");
    assert(space === undefined || space.metadata.deletionTimestamp !== undefined);
  });
});

function sortByKindAndName(objects: readonly PlainObject[]): PlainObject[] {
  const key = ({ kind, metadata }: PlainObject) => `${kind} ${metadata.name}`;
  return [...objects].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
