import assert from "node:assert/strict";
import { ConfigMap, Pod } from "../kinds/mod.ts";
import { access } from "../parts/access.ts";
import type { Logger } from "./logger.ts";
import { type LoopScope, partScope } from "./scope.ts";

/** Returns a log whose lines begin with its fields. */
function logInto(lines: string[], fields: object = {}): Logger {
  const write = (message: string) => lines.push(`${JSON.stringify(fields)} ${message}`);
  const levels = { debug: write, info: write, warn: write, error: write };
  return { ...levels, isDebug: true, with: (more) => logInto(lines, { ...fields, ...more }) };
}

Deno.test("the parts of one loop share its caches, and have their own field manager, declarations and log", () => {
  const lines: string[] = [];
  const caches: LoopScope["caches"] = [];
  const loop = { loop: "pods", manager: "shop.pods", caches, log: logInto(lines) } as unknown as LoopScope;
  const declared = { kind: Pod, owns: [ConfigMap], uses: [access(Pod, "patch")], prune: false, writesStatus: false };

  const [created, pods] = [partScope(loop, "shop", "created", declared), partScope(loop, "shop", "pods", declared)];

  for (const scope of [created, pods]) {
    assert.equal(scope.caches, caches);
    assert.equal(scope.declared, declared);
    scope.log.info("Called");
  }
  assert.deepEqual([created.manager, pods.manager], ["shop.created", "shop.pods"]);
  assert.deepEqual(lines, ['{"part":"created"} Called', "{} Called"]);
});
