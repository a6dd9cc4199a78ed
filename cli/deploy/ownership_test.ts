import assert from "node:assert/strict";
import { eventually } from "../../tests/eventually.ts";
import { DEPLOY, TestCluster, UNINSTALL } from "./_test_cluster.ts";

const operatorOf = (name: string) => `
const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ title: s.optional(s.string()) }),
  status: s.object({}),
});
const parts = { websites: controller(Website, { owns: [Deployment], reconcile() {} }) };
export default operator({ name: "${name}", version: "1.0.0", parts });
`;

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFINITION = `${DEFINITIONS}/websites.demo.example.com`;
const WEBSITES = "/apis/demo.example.com/v1/namespaces/default/websites";

function definition(labels: Record<string, string>): unknown {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "websites.demo.example.com", labels },
    spec: {
      group: "demo.example.com",
      scope: "Namespaced",
      names: { plural: "websites", singular: "website", kind: "Website", listKind: "WebsiteList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

async function install(cluster: TestCluster, labels: Record<string, string>): Promise<void> {
  await cluster.send("POST", DEFINITIONS, definition(labels));
  const website = { apiVersion: "demo.example.com/v1", kind: "Website", metadata: { name: "existing" }, spec: {} };
  await eventually(async () => assert.equal((await cluster.send("POST", WEBSITES, website))[0], 201));
}

for (
  const [origin, labels] of [
    ["another project labeled", { "app.kubernetes.io/name": "cert-manager" }],
    ["another project installed without labels", {}],
  ] as const
) {
  for (const id of ["mine", undefined]) {
    const project = id === undefined ? "a project without an ID" : "a project with an ID";
    Deno.test(`${project} neither takes over nor deletes a definition that ${origin}`, async () => {
      await using cluster = new TestCluster();
      await install(cluster, labels);
      const shop = await cluster.project(operatorOf("shop"), id);
      for (const [args, verb] of [[DEPLOY, "deploy"], [UNINSTALL, "uninstall"]] as const) {
        const { code, stderr } = await shop.op(...args);
        assert.equal(code, 1, stderr);
        assert.match(stderr, new RegExp(`^Cannot ${verb} "shop": 1 object belongs to another operator`));
        assert.match(stderr, /CustomResourceDefinition websites\.demo\.example\.com\./);
      }
      assert.equal((await cluster.send("GET", `${WEBSITES}/existing`))[0], 200);
      const adopted = await shop.op(...DEPLOY, "--adopt");
      assert.equal(adopted.code, 0, adopted.stderr);
    });
  }
}

for (const id of ["of-store", undefined]) {
  const second = id === undefined ? "an operator without an ID" : "an operator with an ID";
  Deno.test(`${second} does not take over the definition of an operator with another name and no ID`, async () => {
    await using cluster = new TestCluster();
    const shop = await cluster.project(operatorOf("shop"));
    const store = await cluster.project(operatorOf("store"), id);
    const deployed = await shop.op(...DEPLOY);
    assert.equal(deployed.code, 0, deployed.stderr);
    for (const args of [DEPLOY, UNINSTALL]) {
      const { code, stderr } = await store.op(...args);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /belongs to another operator .*: CustomResourceDefinition websites\.demo\.example\.com\./);
    }
    assert.equal((await cluster.send("GET", DEFINITION))[0], 200);
    assert.equal((await shop.op(...DEPLOY)).code, 0);
  });
}

Deno.test("op deploy of an operator accepts the definition that an earlier version of op applied without labels", async () => {
  await using cluster = new TestCluster();
  const path = `${DEFINITION}?fieldManager=op-deploy&force=true`;
  await cluster.send("PATCH", path, definition({}), "application/apply-patch+yaml");
  const shop = await cluster.project(operatorOf("shop"), "mine");
  const { code, stderr } = await shop.op(...DEPLOY);
  assert.equal(code, 0, stderr);
});
