import assert from "node:assert/strict";
import { ConfigMap, Secret } from "../../kinds/mod.ts";
import { resource } from "../../resource/resource.ts";
import { s } from "../../schema/mod.ts";
import { withHandler } from "./group.ts";
import type { Handler } from "./handler.ts";
import { on } from "./on.ts";

const User = resource({
  group: "example.com",
  version: "v1",
  kind: "User",
  spec: s.object({ name: s.string(), password: s.string({ format: "password" }) }),
});

const fn = () => {};

for (
  const [name, handler, path] of [
    ["on.update of a Secret", on.update(Secret, fn), ".data"],
    ["on.field of a Secret", on.field(Secret, ".data", fn), ".data"],
    ["on.update of a kind with a password", on.update(User, fn), ".spec.password"],
    ["on.field of an object with a password", on.field(User, ".spec", fn), ".spec.password"],
  ] satisfies [string, Handler, string][]
) {
  Deno.test(`${name} is rejected, and the error shows how to follow a digest`, () => {
    assert.throws(() => withHandler(undefined, "copy", handler), (error: Error) => {
      assert(error.message.startsWith(`Handler "copy" of ${handler.kind.kind}: the values of "${path}" are secret`));
      return error.message.includes(`(object) => digest(object${path})`);
    });
  });
}

for (
  const [name, handler] of [
    ["on.create of a Secret", on.create(Secret, fn)],
    ["on.field of the type of a Secret", on.field(Secret, ".type", fn)],
    ["on.change of a Secret", on.change(Secret, ({ type }) => type ?? "", fn)],
    ["on.update of a Secret without stored state", on.update(Secret, fn, { storage: "memory" })],
    ["on.field next to a password", on.field(User, ".spec.name", fn)],
    ["on.update of a ConfigMap", on.update(ConfigMap, fn)],
  ] satisfies [string, Handler][]
) {
  Deno.test(`${name} is allowed`, () => {
    assert.equal(withHandler(undefined, "copy", handler).handlers.get("copy"), handler);
  });
}
