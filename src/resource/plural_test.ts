import assert from "node:assert/strict";
import { pluralOf } from "./plural.ts";

const CASES: [kind: string, plural: string][] = [
  ["Website", "websites"],
  ["Policy", "policies"],
  ["Gateway", "gateways"],
  ["Ingress", "ingresses"],
  ["Cache", "caches"],
  ["Box", "boxes"],
  ["Branch", "branches"],
  ["Mesh", "meshes"],
  ["Path", "paths"],
  ["Shelf", "shelves"],
  ["Knife", "knives"],
  ["NetworkPolicy", "networkpolicies"],
  ["Endpoints", "endpoints"],
];

for (const [kind, plural] of CASES) {
  Deno.test(`pluralOf returns ${plural} for ${kind}`, () => assert.equal(pluralOf(kind), plural));
}
