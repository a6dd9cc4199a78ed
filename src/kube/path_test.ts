import assert from "node:assert/strict";
import { ConfigMap, Deployment, Namespace } from "../kinds/mod.ts";
import type { AnyKind } from "../resource/kind.ts";
import { collectionPath, describe, objectPath } from "./path.ts";

Deno.test("collectionPath names the group, the version and, where there is one, the namespace", () => {
  assert.equal(collectionPath(ConfigMap), "/api/v1/configmaps");
  assert.equal(collectionPath(ConfigMap, "shop"), "/api/v1/namespaces/shop/configmaps");
  assert.equal(collectionPath(Deployment, "shop"), "/apis/apps/v1/namespaces/shop/deployments");
  assert.equal(collectionPath(Namespace, "shop"), "/api/v1/namespaces", "a cluster-wide kind has no namespace");
});

Deno.test("objectPath names the object and the subresource", () => {
  assert.equal(
    objectPath(Deployment, "web", "shop", "status"),
    "/apis/apps/v1/namespaces/shop/deployments/web/status",
  );
  assert.equal(objectPath(Namespace, "shop"), "/api/v1/namespaces/shop");
});

const REFUSED: readonly { name: string; kind: AnyKind; given: [string, string?] }[] = [
  { name: "an empty name", kind: ConfigMap, given: ["", "shop"] },
  { name: "a namespaced kind without a namespace", kind: ConfigMap, given: ["web"] },
  { name: "a namespace that is empty", kind: ConfigMap, given: ["web", ""] },
  { name: "a name that climbs up", kind: ConfigMap, given: ["..", "shop"] },
  { name: "a name that stays", kind: Namespace, given: ["."] },
  {
    name: "a name with a slash, which the server would take for a subresource",
    kind: ConfigMap,
    given: ["web/status", "shop"],
  },
  { name: "a name that may be decoded twice", kind: ConfigMap, given: ["web%2Fstatus", "shop"] },
  { name: "a namespace that climbs up", kind: ConfigMap, given: ["web", ".."] },
];

for (const { name, kind, given } of REFUSED) {
  Deno.test(`objectPath refuses ${name}`, () => {
    assert.throws(() => objectPath(kind, ...given), { name: "TypeError", message: /^Cannot address / });
  });
}

Deno.test("objectPath stays below its collection, whatever the name", () => {
  for (const name of ["a?b", "a#b", "a b", "a:b", "...", "ä"]) {
    const { pathname, search, hash } = new URL(`http://cluster${objectPath(ConfigMap, name, "shop")}`);
    assert.equal(pathname.split("/").length, 7, name);
    assert(pathname.startsWith("/api/v1/namespaces/shop/configmaps/"), name);
    assert.equal(search + hash, "", name);
  }
});

Deno.test("describe writes an object as people do", () => {
  assert.equal(describe(ConfigMap, "web", "shop"), 'ConfigMap "shop/web"');
  assert.equal(describe(Namespace, "shop", "ignored"), 'Namespace "shop"');
  assert.equal(describe(ConfigMap, undefined, "shop"), 'ConfigMap "shop"');
  assert.equal(describe(ConfigMap), "ConfigMap");
});
