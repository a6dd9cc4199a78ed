import assert from "node:assert/strict";
import { eventually } from "../../tests/eventually.ts";
import { CLUSTER, DEPLOY, TestCluster, UNINSTALL } from "./_test_cluster.ts";

const SHOP = `
const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({}),
  status: s.object({}),
});
const parts = { websites: controller(Website, { owns: [Deployment], reconcile() {} }) };
export default operator({ name: "shop", version: "1.0.0", parts });
`;

const NAMESPACE = "/api/v1/namespaces/shop-system";
const VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop";
const SECRETS = `${NAMESPACE}/secrets`;

Deno.test("op uninstall does not delete a namespace that has other objects, and names them", async () => {
  await using cluster = new TestCluster();
  const shop = await cluster.project(SHOP, "mine");
  const deployed = await shop.op(...DEPLOY);
  assert.equal(deployed.code, 0, deployed.stderr);
  await cluster.send("POST", SECRETS, { metadata: { name: "database" } });
  const kept = "Namespace shop-system: it has 1 other object (Secret shop-system/database)";

  const preview = await shop.op("uninstall", ...CLUSTER);
  assert.equal(preview.code, 2);
  assert(preview.stdout.includes(`would keep ${kept}\n`), preview.stdout);
  const { code, stdout, stderr } = await shop.op(...UNINSTALL);
  assert.equal(code, 0, stderr);
  assert(stdout.includes(`kept       ${kept}\n`), stdout);
  assert.equal((await cluster.send("GET", `${SECRETS}/database`))[0], 200);
  const [, { status, metadata }] = await cluster.send("GET", NAMESPACE);
  assert.deepEqual([status.phase, metadata.deletionTimestamp], ["Active", undefined]);
  assert.equal((await cluster.send("GET", `/apis/apps/v1/namespaces/shop-system/deployments/shop`))[0], 404);
});

Deno.test("op uninstall deletes a namespace that has only objects of Kubernetes and the operator", async () => {
  await using cluster = new TestCluster();
  const shop = await cluster.project(SHOP, "mine");
  assert.equal((await shop.op(...DEPLOY)).code, 0);
  const [, deployment] = await cluster.send("GET", "/apis/apps/v1/namespaces/shop-system/deployments/shop");
  const { name, uid } = deployment.metadata;
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid };
  for (
    const [path, metadata] of [
      ["/api/v1", "configmaps", { name: "kube-root-ca.crt" }],
      ["/api/v1", "configmaps", { name: "state", labels: { "app.kubernetes.io/name": "shop" } }],
      ["/api/v1", "configmaps", { name: "owned", ownerReferences: [owner] }],
      ["/apis/coordination.k8s.io/v1", "leases", { name: "shop-leader" }],
    ].map(([root, plural, metadata]) => [`${root}/namespaces/shop-system/${plural}`, metadata] as const)
  ) {
    const [status] = await cluster.send("POST", path, { metadata });
    assert.equal(status, 201, path);
  }
  const { code, stdout, stderr } = await shop.op(...UNINSTALL);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^deleted {4}Namespace shop-system$/m);
});

Deno.test("op uninstall --release-finalizers does not remove another program's finalizer that contains the operator's name", async () => {
  await using cluster = new TestCluster();
  const shop = await cluster.project(SHOP, "mine");
  assert.equal((await shop.op(...DEPLOY)).code, 0);
  const path = "/apis/demo.example.com/v1/namespaces/default/websites";
  const finalizers = ["demo.example.com/shop.websites", "backup.example.com/shop.snapshot"];
  const website = {
    apiVersion: "demo.example.com/v1",
    kind: "Website",
    metadata: { name: "one", finalizers },
    spec: {},
  };
  await eventually(async () => assert.equal((await cluster.send("POST", path, website))[0], 201));
  const args = ["uninstall", "--yes", "--timeout", "1s", "--release-finalizers", ...CLUSTER];
  const { code, stderr } = await shop.op(...args);
  assert.equal(code, 1);
  assert.match(stderr, /finalizers of other programs\. Wait until these remove them/);
  const [, { metadata }] = await cluster.send("GET", `${path}/one`);
  assert.deepEqual(metadata.finalizers, ["backup.example.com/shop.snapshot"]);
});

const CONVERTED_SHOP = `
const names = { group: "demo.example.com", kind: "Website" };
const WebsiteV2 = resource({ ...names, version: "v2", spec: s.object({}) });
const Website = resource({ ...names, version: "v1", spec: s.object({}), versions: [WebsiteV2] });
const parts = {
  websites: controller(Website, { reconcile() {}, cleanup() {} }),
  rules: webhook(Website, { operations: ["CREATE", "UPDATE", "DELETE"], validate() {} }),
  websiteV2: conversion(Website, WebsiteV2, { up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) }),
};
export default operator({ name: "shop", version: "1.0.0", parts });
`;

Deno.test("op uninstall --release-finalizers releases objects although the operator's webhooks do not respond", async () => {
  await using cluster = new TestCluster();
  const imports = `import { conversion, webhook } from "${new URL("../../mod.ts", import.meta.url)}";\n`;
  const shop = await cluster.project(imports + CONVERTED_SHOP, "mine");
  const websites = "/apis/demo.example.com/v2/namespaces/default/websites";
  const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.demo.example.com";
  const website = {
    apiVersion: "demo.example.com/v2",
    kind: "Website",
    metadata: { name: "one", finalizers: ["demo.example.com/shop.websites"] },
    spec: {},
  };
  assert.equal((await shop.op(...DEPLOY)).code, 0);
  const [, { webhooks }] = await cluster.send("GET", VALIDATING);
  const conversion = (await cluster.send("GET", definition))[1].spec.conversion;
  const patchDefinition = async (conversion: unknown) =>
    await cluster.send("PATCH", definition, { spec: { conversion } }, "application/merge-patch+json");
  await cluster.send("PATCH", VALIDATING, { webhooks: [] }, "application/merge-patch+json");
  await patchDefinition({ strategy: "None", webhook: null });
  await eventually(async () => assert.equal((await cluster.send("POST", websites, website))[0], 201));
  await cluster.send("PATCH", VALIDATING, { webhooks }, "application/merge-patch+json");
  await patchDefinition(conversion);

  const stuck = await shop.op("uninstall", "--yes", "--timeout", "1s", ...CLUSTER);
  assert.equal(stuck.code, 1);
  const args = ["uninstall", "--yes", "--timeout", "1s", "--release-finalizers", ...CLUSTER];
  const { code, stdout, stderr } = await shop.op(...args);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^deleted {4}ValidatingWebhookConfiguration shop, because it does not respond$/m);
  assert.match(stdout, /^released {3}Website default\/one$/m);
  assert.equal(stdout.match(/^deleted {4}ValidatingWebhookConfiguration/gm)?.length, 1, stdout);
  assert.equal((await cluster.send("GET", definition))[0], 404);
});

Deno.test("op uninstall deletes the ClusterRoles of a kind that only an earlier version had, and no others", async () => {
  await using cluster = new TestCluster();
  const shop = await cluster.project(SHOP, "mine");
  assert.equal((await shop.op(...DEPLOY)).code, 0);
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  const rules = [{ apiGroups: ["demo.example.com"], resources: ["orders"], verbs: ["get"] }];
  const labels = { "app.kubernetes.io/name": "shop", "op/operator-id": "mine" };
  // A role that a user wrote, one of another operator, and one with another suffix.
  for (
    const [name, manager, extra] of [
      ["shop-orders-viewer", "kubectl", {}],
      ["shop-orders-editor", "op-deploy", { "op/operator-id": "other" }],
      ["shop-orders-auditor", "op-deploy", {}],
    ] as const
  ) {
    const role = { metadata: { name, labels: { ...labels, ...extra } }, rules };
    assert.equal((await cluster.send("POST", `${roles}?fieldManager=${manager}`, role))[0], 201);
  }
  await shop.write("main.ts", (await shop.read("main.ts")).replaceAll("Website", "Invoice"));
  const { code, stdout, stderr } = await shop.op(...UNINSTALL);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^deleted {4}ClusterRole shop-websites-viewer$/m);
  const [, { items }] = await cluster.send("GET", roles);
  const left = items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  assert.deepEqual(left.filter((name: string) => name.startsWith("shop")).sort(), [
    "shop-orders-auditor",
    "shop-orders-editor",
    "shop-orders-viewer",
  ]);
});
