import assert from "node:assert/strict";
import { ConfigMap, Deployment } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { crdsOf } from "./crds.ts";

const [A, B, C] = ["Alpha", "Beta", "Gamma"].map((kind) =>
  resource({ group: "demo.example.com", version: "v1", kind, spec: s.object({}) })
) as [ReturnType<typeof kindOf>, ReturnType<typeof kindOf>, ReturnType<typeof kindOf>];

Deno.test("crdsOf has each kind that is not built in once, in the order of the parts", () => {
  const parts = [
    controller(B, { owns: [ConfigMap, C], reconcile() {} }),
    controller(A, { owns: [B], reads: [Deployment, C], reconcile() {} }),
    controller(ConfigMap, { reconcile() {} }),
  ];
  assert.deepEqual(crdsOf(parts).map(({ metadata }) => metadata.name), [
    "betas.demo.example.com",
    "gammas.demo.example.com",
    "alphas.demo.example.com",
  ]);
  assert.equal(crdsOf(parts)[0], B.crd);
});

Deno.test("crdsOf is empty where all kinds are built in", () => {
  assert.deepEqual(crdsOf([controller(ConfigMap, { reconcile() {} })]), []);
});

function kindOf() {
  return resource({ group: "demo.example.com", version: "v1", kind: "Alpha" as string, spec: s.object({}) });
}
