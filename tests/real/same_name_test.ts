/**
 * Two operators with the same name on a real API server: `op deploy`, `op dev` and `op uninstall`
 * of one do not change the objects of the other, and `op doctor` reports it.
 */
import assert from "node:assert/strict";
import { type OperatorFolder, operatorFolder } from "../../cli/_operator_folder.ts";
import { ClusterRole, CustomResourceDefinition, Deployment, Namespace } from "../../src/kinds/mod.ts";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient } from "../fixtures/watched.ts";
import { untilServed } from "../fixtures/install.ts";

const operatorOf = (kind: string) => `
const Own = resource({ group: "demo.example.com", version: "v1", kind: "${kind}", spec: s.object({}), status: s.object({}) });
const parts = { own: controller(Own, { owns: [Deployment], reconcile() {} }) };
export default operator({ name: "shop", version: "1.0.0", parts });
`;

/** Creates a project of the operator "shop", with a kind and an ID, and generates its manifests. */
async function project(kind: string, id: string | undefined, kubeconfig: string): Promise<OperatorFolder> {
  const folder = await operatorFolder(operatorOf(kind));
  await folder.write("kubeconfig", kubeconfig);
  if (id !== undefined) await folder.write("operator.toml", `[project]\nid = "${id}"\n`);
  for (const args of [["manifests"], ["overlay", "prod"]]) {
    const generated = await folder.op("generate", ...args);
    assert.equal(generated.code, 0, generated.stderr);
  }
  return folder;
}

const CLUSTER = ["--kubeconfig", "kubeconfig"];
const DEPLOY = ["deploy", "prod", "--no-wait", ...CLUSTER];

Deno.test("a second operator of the same name does not change or delete what the first one installed", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const { kubeconfig } = cluster.admin;
  await using first = await project("Website", "id-of-first", kubeconfig);
  await using second = await project("Cache", "id-of-second", kubeconfig);
  const rules = async () => JSON.stringify((await client.get(ClusterRole, "shop")).rules);

  const deployed = await first.op(...DEPLOY);
  assert.equal(deployed.code, 0, deployed.stderr);
  await untilServed(client);
  const Website = await findKind(client, "websites.demo.example.com");
  for (const name of ["one", "two"]) {
    await client.create(Website, { metadata: { name, namespace: "default" }, spec: {} });
  }
  const before = await rules();

  for (const flags of [[], ["--dry-run"]]) {
    await t.step(
      `${["op deploy", ...flags].join(" ")} of the second operator fails, and lists what the first would lose`,
      async () => {
        const rejected = await second.op(...DEPLOY, ...flags);
        assert.equal(rejected.code, 1, rejected.stdout);
        for (
          const expected of [
            'Cannot deploy "shop": ',
            "belong to another operator in https://",
            '"shop" with ID "id-of-first"',
            "its Deployment",
            "its permissions on websites.demo.example.com (2 objects)",
            "--adopt",
          ]
        ) assert(rejected.stderr.includes(expected), `${expected} is not in ${rejected.stderr}`);
        assert.equal(await rules(), before);
        const definitions = await client.list(CustomResourceDefinition);
        assert.deepEqual(definitions.map(({ metadata }) => metadata.name), ["websites.demo.example.com"]);
      },
    );
  }

  await t.step("op dev of the second operator fails before it applies an object", async () => {
    const rejected = await second.op("dev", ...CLUSTER);
    assert.equal(rejected.code, 1, rejected.stdout);
    assert.match(rejected.stderr, /^Cannot install "shop": .*belong to another operator/);
    assert.equal(await rules(), before);
  });

  await t.step("op doctor of the second operator reports the first", async () => {
    const diagnosed = await second.op("doctor", ...CLUSTER);
    assert.equal(diagnosed.code, 1);
    assert.match(diagnosed.stdout, /^error {5}identity {5}\d+ objects belong to another operator .*id-of-first/m);
    assert.match((await first.op("doctor", ...CLUSTER)).stdout, /^ok {8}identity .*"id-of-first"\)$/m);
  });

  await t.step("op uninstall of the second operator fails, and deletes no object", async () => {
    for (const flags of [[], ["--yes"]]) {
      const rejected = await second.op("uninstall", ...flags, ...CLUSTER);
      assert.equal(rejected.code, 1, rejected.stdout);
      assert.match(rejected.stderr, /^Cannot uninstall "shop": \d+ objects belong to another operator/);
      assert.match(rejected.stderr, /its permissions on websites\.demo\.example\.com \(2 objects\)/);
    }
    assert.equal((await client.list(Deployment, { namespace: "shop-system" })).length, 1);
    assert.equal((await client.list(Website)).length, 2);
  });

  await t.step("the first operator can be deployed from another checkout", async () => {
    await using checkout = await project("Website", "id-of-first", kubeconfig);
    const again = await checkout.op(...DEPLOY);
    assert.deepEqual([again.code, again.stdout.match(/unchanged /g)?.length], [0, 15], again.stdout + again.stderr);
  });

  await t.step("op deploy --adopt takes the objects over, and then op deploy of the first operator fails", async () => {
    const adopted = await second.op(...DEPLOY, "--adopt");
    assert.equal(adopted.code, 0, adopted.stderr);
    assert.equal(
      (await client.get(Deployment, "shop", { namespace: "shop-system" })).metadata.labels?.["op/operator-id"],
      "id-of-second",
    );
    assert.equal((await client.get(Namespace, "shop-system")).metadata.labels?.["op/operator-id"], "id-of-second");
    const rejected = await first.op(...DEPLOY);
    assert.equal(rejected.code, 1, rejected.stdout);
    assert.match(rejected.stderr, /"shop" with ID "id-of-second"/);
  });
});

Deno.test("operators with the same name and no ID are distinguished by their kinds", async (t) => {
  await using cluster = await realCluster();
  const { kubeconfig } = cluster.admin;
  await using first = await project("Website", undefined, kubeconfig);
  await using second = await project("Cache", undefined, kubeconfig);
  assert.equal((await first.op(...DEPLOY)).code, 0);

  await t.step("op deploy of an operator with other kinds fails", async () => {
    const rejected = await second.op(...DEPLOY);
    assert.equal(rejected.code, 1, rejected.stdout);
    assert.match(rejected.stderr, /"shop" without an ID/);
    assert.match(rejected.stderr, /its permissions on websites\.demo\.example\.com \(0 objects\)/);
  });

  await t.step(
    "an operator with the ID that op doctor proposes owns the objects that it installed before",
    async () => {
      const diagnosed = await first.op("doctor", ...CLUSTER);
      const [, id] = /\[project\] id = "([-0-9a-f]{36})"/.exec(diagnosed.stdout) ?? [];
      assert(id, diagnosed.stdout);
      await using renewed = await project("Website", id, kubeconfig);
      const deployed = await renewed.op(...DEPLOY);
      assert.equal(deployed.code, 0, deployed.stderr);
      assert.match((await renewed.op("doctor", ...CLUSTER)).stdout, /^ok {8}identity /m);

      const rejected = await first.op(...DEPLOY);
      assert.equal(rejected.code, 1, rejected.stdout);
      assert(rejected.stderr.includes(`add [project] id = "${id}" to operator.toml`), rejected.stderr);
      const uninstalled = await renewed.op("uninstall", "--yes", ...CLUSTER);
      assert.equal(uninstalled.code, 0, uninstalled.stderr);
      assert.match(uninstalled.stdout, /^deleted {4}Namespace shop-system$/m);
    },
  );
});

Deno.test("op deploy and op uninstall do not change a namespace of another owner", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await using first = await project("Website", "id-of-first", cluster.admin.kubeconfig);
  const labels = { team: "a", "app.kubernetes.io/name": "platform" };
  await client.create(Namespace, { metadata: { name: "shop-system", labels } });
  const deployed = await first.op(...DEPLOY);
  assert.equal(deployed.code, 0, deployed.stderr);
  assert.match(deployed.stdout, /^ {2}kept {7}Namespace shop-system \(it belongs to another owner\)$/m);
  const uninstalled = await first.op("uninstall", "--yes", ...CLUSTER);
  assert.equal(uninstalled.code, 0, uninstalled.stderr);
  const { metadata } = await client.get(Namespace, "shop-system");
  assert.equal(metadata.deletionTimestamp, undefined);
  assert.equal(metadata.labels?.team, "a");
});
