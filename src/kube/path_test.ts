import assert from "node:assert/strict";
import { ConfigMap, Deployment, Namespace } from "../kinds/mod.ts";
import type { AnyKind } from "../resource/kind.ts";
import { collectionPath, describe, objectPath } from "./path.ts";

Deno.test("collectionPath has the group, the version and the namespace", () => {
  assert.equal(collectionPath(ConfigMap), "/api/v1/configmaps");
  assert.equal(collectionPath(ConfigMap, "shop"), "/api/v1/namespaces/shop/configmaps");
  assert.equal(collectionPath(Deployment, "shop"), "/apis/apps/v1/namespaces/shop/deployments");
  assert.equal(collectionPath(Namespace, "shop"), "/api/v1/namespaces", "a cluster-wide kind has no namespace");
});

Deno.test("objectPath has the name and the subresource", () => {
  assert.equal(
    objectPath(Deployment, "web", "shop", "status"),
    "/apis/apps/v1/namespaces/shop/deployments/web/status",
  );
  assert.equal(objectPath(Namespace, "shop"), "/api/v1/namespaces/shop");
});

const INVALID: readonly { name: string; kind: AnyKind; given: [string, string?] }[] = [
  { name: "an empty name", kind: ConfigMap, given: ["", "shop"] },
  { name: "a namespaced kind without a namespace", kind: ConfigMap, given: ["web"] },
  { name: "an empty namespace", kind: ConfigMap, given: ["web", ""] },
  { name: 'the name ".."', kind: ConfigMap, given: ["..", "shop"] },
  { name: 'the name "."', kind: Namespace, given: ["."] },
  {
    name: "a name with a slash, which would be a subresource",
    kind: ConfigMap,
    given: ["web/status", "shop"],
  },
  { name: "a name that could be decoded twice", kind: ConfigMap, given: ["web%2Fstatus", "shop"] },
  { name: 'the namespace ".."', kind: ConfigMap, given: ["web", ".."] },
];

for (const { name, kind, given } of INVALID) {
  Deno.test(`objectPath rejects ${name}`, () => {
    assert.throws(() => objectPath(kind, ...given), { name: "TypeError", message: /^(Invalid|Missing) name/ });
  });
}

Deno.test("objectPath is below its collection, whatever the name", () => {
  for (const name of ["a?b", "a#b", "a b", "a:b", "...", "ä"]) {
    const { pathname, search, hash } = new URL(`http://cluster${objectPath(ConfigMap, name, "shop")}`);
    assert.equal(pathname.split("/").length, 7, name);
    assert(pathname.startsWith("/api/v1/namespaces/shop/configmaps/"), name);
    assert.equal(search + hash, "", name);
  }
});

Deno.test("describe returns kind, namespace and name", () => {
  assert.equal(describe(ConfigMap, "web", "shop"), 'ConfigMap "shop/web"');
  assert.equal(describe(Namespace, "shop", "ignored"), 'Namespace "shop"');
  assert.equal(describe(ConfigMap, undefined, "shop"), 'ConfigMap "shop"');
  assert.equal(describe(ConfigMap), "ConfigMap");
});
