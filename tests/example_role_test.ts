import assert from "node:assert/strict";
import { type AnyManifest, grantsTo, isGranted, unneeded } from "../cli/rbac/grants.ts";
import { objectsIn } from "../cli/objects.ts";
import op from "../examples/01_website/main.ts";

Deno.test("the role that the example shows gives what its declarations ask for, and nothing beyond", async () => {
  const file = new URL("../examples/01_website/role.yaml", import.meta.url);
  const roles = objectsIn(await Deno.readTextFile(file), "role.yaml") as unknown as AnyManifest[];
  const grants = grantsTo(roles, { name: op.name, namespace: undefined });
  assert.deepEqual(op.rbac().filter((right) => !isGranted(right, grants, {})), []);
  assert.deepEqual(unneeded(op.rbac(), grants), []);
});
