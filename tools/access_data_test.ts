import assert from "node:assert/strict";
import { accessData } from "../src/openapi/access.gen.ts";
import { accessModule } from "./access_data.ts";

Deno.test("accessModule contains the bootstrap objects in the order of creation", async () => {
  const labels = { "kubernetes.io/bootstrapping": "rbac-defaults" };
  const text = accessModule("v1.2.3", {
    clusterroles: [
      { metadata: { name: "b", resourceVersion: "3", labels }, rules: null },
      { metadata: { name: "mine", resourceVersion: "4" }, rules: [] },
      { metadata: { name: "all", resourceVersion: "5", labels }, aggregationRule: { a: 1 }, rules: [{ verbs: ["`"] }] },
    ],
    roles: [{ metadata: { name: "a", namespace: "kube-system", resourceVersion: "2", labels }, rules: [] }],
  });
  const module = await import(`data:text/typescript,${encodeURIComponent(text)}`);

  assert.deepEqual(JSON.parse(module.accessData), [
    ["roles", { metadata: { name: "a", namespace: "kube-system", labels }, rules: [] }],
    ["clusterroles", { metadata: { name: "b", labels }, rules: null }],
    ["clusterroles", { metadata: { name: "all", labels }, aggregationRule: { a: 1 }, rules: null }],
  ]);
});

Deno.test("access.gen.ts has the user-facing roles", () => {
  const data = JSON.parse(accessData) as [string, { metadata: { name: string } }][];
  const names = data.filter(([plural]) => plural === "clusterroles").map(([, { metadata }]) => metadata.name);
  for (const name of ["cluster-admin", "admin", "edit", "view", "system:discovery"]) assert(names.includes(name), name);
});
