import assert from "node:assert/strict";
import { connectCluster } from "../cluster.ts";
import { DEPLOY, TestCluster } from "../deploy/_test_cluster.ts";
import { factsOf, NO_IMAGE } from "../generate/generate.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { install } from "./install.ts";

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

const PATCHES = `
patches:
- patch: |
    apiVersion: v1
    kind: ServiceAccount
    metadata:
      name: shop
      namespace: shop-system
      annotations: { eks.amazonaws.com/role-arn: arn:aws:iam::1:role/shop }
`;

const ACCOUNT = "/api/v1/namespaces/shop-system/serviceaccounts/shop";
const ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/shop";

interface Managed {
  readonly metadata: { readonly managedFields: readonly { readonly manager: string }[] };
}

function managersOf({ metadata: { managedFields } }: Managed): string[] {
  return managedFields.map(({ manager }) => manager).sort();
}

Deno.test("op dev keeps fields that an overlay added to deployed objects, and op deploy removes what op dev added", async () => {
  await using cluster = new TestCluster();
  const shop = await cluster.project(SHOP, "mine");
  const kustomization = "config/overlays/prod/kustomization.yaml";
  await shop.write(kustomization, `${await shop.read(kustomization)}${PATCHES}`);
  const deployed = await shop.op(...DEPLOY);
  assert.equal(deployed.code, 0, deployed.stderr);

  await shop.write("main.ts", (await shop.read("main.ts")).replace("owns: [Deployment]", "owns: [Deployment, Secret]"));
  const io = new RecordedIo(shop.path);
  const facts = await factsOf("main.ts", { image: NO_IMAGE }, io);
  using connected = await connectCluster({ kubeconfig: "kubeconfig" }, io);
  await install(connected, facts, { signal: new AbortController().signal });

  const [, account] = await cluster.send("GET", ACCOUNT);
  assert.equal(account.metadata.annotations?.["eks.amazonaws.com/role-arn"], "arn:aws:iam::1:role/shop");
  assert.deepEqual(managersOf(account), ["op-deploy", "op-dev"]);
  assert.match(JSON.stringify((await cluster.send("GET", ROLE))[1].rules), /secrets/);

  const redeployed = await shop.op(...DEPLOY);
  assert.equal(redeployed.code, 0, redeployed.stderr);
  const [, role] = await cluster.send("GET", ROLE);
  assert.doesNotMatch(JSON.stringify(role.rules), /secrets/);
  assert.deepEqual(managersOf(role), ["op-deploy"]);
  assert.deepEqual(managersOf((await cluster.send("GET", ACCOUNT))[1]), ["op-deploy"]);
});
