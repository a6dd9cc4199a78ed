import assert from "node:assert/strict";
import { COMMIT, imageOf, type ImageParts, isOfCommit } from "./image.ts";

const SHOP = { name: "shop", version: "1.2.0+build.7", commit: "3f2a1b0" };

const NAMED: readonly { parts: ImageParts; image: string }[] = [
  { parts: {}, image: "shop:1.2.0_build.7" },
  { parts: { registry: "r.example:5000" }, image: "r.example:5000/shop:1.2.0_build.7" },
  { parts: { registry: "docker.io/team", repository: "ops/shop" }, image: "docker.io/team/ops/shop:1.2.0_build.7" },
  { parts: { tag: "edge" }, image: "shop:edge" },
  { parts: { tag: COMMIT, tagPrefix: "dev-", tagSuffix: "-arm" }, image: "shop:dev-3f2a1b0-arm" },
  { parts: { tag: "$PROJECT_VERSION-$TAG_OR_SHORT_COMMIT_SHA" }, image: "shop:1.2.0_build.7-3f2a1b0" },
];

for (const { parts, image } of NAMED) {
  Deno.test(`imageOf returns ${image} for ${JSON.stringify(parts)}`, () => assert.equal(imageOf(parts, SHOP), image));
}

const INVALID: readonly { parts: ImageParts; message: RegExp }[] = [
  { parts: { registry: "https://r.example" }, message: /the registry "https:\/\/r\.example" is invalid\. Use a host/ },
  { parts: { repository: "Shop" }, message: /the repository "Shop" is invalid\. Use lowercase letters/ },
  { parts: { tag: "a b" }, message: /the tag "a b" is invalid\. Use at most 128 letters/ },
  {
    parts: { tag: "$PROJECT" },
    message: /The placeholders are \$PROJECT_VERSION and \$TAG_OR_SHORT_COMMIT_SHA/,
  },
  { parts: { tag: "x".repeat(129) }, message: /at most 128/ },
];

for (const { parts, message } of INVALID) {
  Deno.test(`imageOf rejects ${JSON.stringify(parts).slice(0, 60)}`, () => {
    assert.throws(() => imageOf(parts, SHOP), { name: "TypeError", message });
  });
}

Deno.test("imageOf requires the commit if the tag contains its placeholder", () => {
  assert(isOfCommit({ tag: COMMIT }) && !isOfCommit({}));
  assert.throws(() => imageOf({ tag: COMMIT }, { name: "shop", version: "1" }), /but no commit is given/);
});
