/** examples/01_website/role.yaml. */
import assert from "node:assert/strict";
import { type AnyManifest, grantsTo, isGranted, unneeded } from "../cli/rbac/grants.ts";
import { objectsIn } from "../cli/objects.ts";
import op from "../examples/01_website/main.ts";

Deno.test("the role in the website example has exactly the RBAC permissions that its declarations need", async () => {
  const file = new URL("../examples/01_website/role.yaml", import.meta.url);
  const roles = objectsIn(await Deno.readTextFile(file), "role.yaml") as unknown as AnyManifest[];
  const grants = grantsTo(roles, { name: op.name, namespace: undefined });
  assert.deepEqual(op.rbac().filter((rule) => !isGranted(rule, grants, {})), []);
  assert.deepEqual(unneeded(op.rbac(), grants), []);
});
