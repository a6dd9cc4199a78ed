import assert from "node:assert/strict";
import { ConfigMap, Namespace, Node } from "../kinds/mod.ts";
import type { AnyKind, KubeObject, OwnerReference } from "../resource/kind.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { checkOwner, ownerKey, ownerReference } from "./owner.ts";

const Website = resource({ group: "demo.example.com", version: "v2", kind: "Website", spec: s.object({}) });

Deno.test("ownerReference makes the owner the controller", () => {
  assert.deepEqual(ownerReference(Website, object("blog", "shop")), {
    apiVersion: "demo.example.com/v2",
    kind: "Website",
    name: "blog",
    uid: "uid-of-blog",
    controller: true,
    blockOwnerDeletion: true,
  });
});

const KEYS: readonly { name: string; kind?: AnyKind; references: OwnerReference[]; expected: string | undefined }[] = [
  { name: "the owner's name in the namespace of the owned object", references: [reference()], expected: "shop/blog" },
  {
    name: "only the name for a cluster-scoped owner",
    kind: Namespace,
    references: [reference({ apiVersion: "v1", kind: "Namespace" })],
    expected: "blog",
  },
  {
    name: "an owner that is referenced in another version of its kind",
    references: [reference({ apiVersion: "demo.example.com/v1" })],
    expected: "shop/blog",
  },
  {
    name: "the controller among several owners",
    references: [reference({ name: "other", controller: false }), reference()],
    expected: "shop/blog",
  },
  {
    name: "undefined for an owner that is not the controller",
    references: [reference({ controller: false })],
    expected: undefined,
  },
  { name: "undefined for another kind", references: [reference({ kind: "Page" })], expected: undefined },
  {
    name: "undefined for a kind of the same name in another group",
    references: [reference({ apiVersion: "other.example.com/v2" })],
    expected: undefined,
  },
  { name: "undefined without an owner", references: [], expected: undefined },
];

for (const { name, kind = Website, references, expected } of KEYS) {
  Deno.test(`ownerKey returns ${name}`, () => {
    const owned = object("page", "shop");
    const metadata = { ...owned.metadata, ownerReferences: references };
    assert.equal(ownerKey(kind, { ...owned, metadata }), expected);
  });
}

Deno.test("ownerKey returns undefined without an object", () => {
  assert.equal(ownerKey(Website, undefined), undefined);
});

Deno.test("checkOwner accepts an owner in the same namespace, and a cluster-scoped owner", () => {
  checkOwner(Website, object("blog", "shop"), ConfigMap, { name: "page", namespace: "shop" });
  checkOwner(Namespace, object("shop"), ConfigMap, { name: "page", namespace: "other" });
  checkOwner(Namespace, object("shop"), Node, { name: "one" });
});

Deno.test("checkOwner rejects an owner that the garbage collector would not find", () => {
  const owner = object("blog", "shop");
  assert.throws(() => checkOwner(Website, owner, ConfigMap, { name: "page", namespace: "other" }), {
    name: "TypeError",
    message:
      'Cannot make Website "shop/blog" the owner of ConfigMap "page": it is in namespace "other", so an owner reference is not possible. Apply it with { owner: false } and delete it in cleanup',
  });
  assert.throws(() => checkOwner(Website, owner, Namespace, { name: "page" }), {
    name: "TypeError",
    message: /^Cannot make Website "shop\/blog" the owner of Namespace "page": it is cluster-scoped, /,
  });
});

function reference(more: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: "demo.example.com/v2", kind: "Website", name: "blog", uid: "u", controller: true, ...more };
}

function object(name: string, namespace?: string): KubeObject {
  const metadata = { name, uid: `uid-of-${name}`, resourceVersion: "1", creationTimestamp: "2030-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "Any", metadata: { ...metadata, ...(namespace && { namespace }) } };
}
