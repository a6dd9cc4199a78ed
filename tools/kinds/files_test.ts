import assert from "node:assert/strict";
import { reachedFiles } from "./files.ts";

Deno.test("reachedFiles omits files that latest.gen.ts does not import, directly or indirectly", () => {
  const files = new Map([
    ["apps_v1.gen.ts", 'import type { Pod } from "./core_v1.gen.ts";'],
    ["apps_v1beta1.gen.ts", 'import type { Pod } from "./core_v1.gen.ts";'],
    ["core_v1.gen.ts", ""],
    ["latest.gen.ts", 'export { Deployment } from "./apps_v1.gen.ts";'],
  ]);

  assert.deepEqual([...reachedFiles(files).keys()], ["apps_v1.gen.ts", "core_v1.gen.ts", "latest.gen.ts"]);
});
