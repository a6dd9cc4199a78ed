/** Kubernetes' strategic merge, as far as patches of what runs an operator need it: lists that have keys are merged entry by entry. */
import { isObject } from "@op/sdk/definitions";
import { Failure } from "../exit_code.ts";

/** Lists that are merged by a key of their entries, as `k8s.io/api` marks them; all others are replaced whole. */
const KEYS: Readonly<Record<string, string>> = {
  containers: "name",
  initContainers: "name",
  env: "name",
  volumes: "name",
  volumeMounts: "mountPath",
  imagePullSecrets: "name",
  hostAliases: "ip",
  topologySpreadConstraints: "topologyKey",
};

/**
 * A value with a patch merged into it.
 *
 * @param value The value.
 * @param patch What is to be otherwise; null takes a field away.
 * @throws {Failure} If the patch has directives, which begin with `$`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const pod = { containers: [{ name: "a", image: "a:1", args: ["x"] }] };
 * assert.deepEqual(strategicMerge(pod, { containers: [{ name: "a", image: "a:2" }] }), {
 *   containers: [{ name: "a", image: "a:2", args: ["x"] }],
 * });
 * ```
 */
export function strategicMerge(
  value: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...value };
  for (const [name, wanted] of Object.entries(patch)) {
    if (name.startsWith("$")) {
      throw new Failure(
        `Cannot merge a patch: the directive "${name}" is not understood here; write operations instead`,
      );
    }
    const now = merged[name];
    const key = KEYS[name];
    if (wanted === null) delete merged[name];
    else if (isObject(wanted)) merged[name] = strategicMerge(isObject(now) ? now : {}, wanted);
    else if (key !== undefined && Array.isArray(wanted) && Array.isArray(now)) merged[name] = byKey(now, wanted, key);
    else merged[name] = wanted;
  }
  return merged;
}

/** What is new goes to the front, as with kubectl. */
function byKey(now: readonly unknown[], wanted: readonly unknown[], key: string): unknown[] {
  const keyed = wanted.filter(isObject);
  const kept = now.map((item) => {
    const patch = isObject(item) ? keyed.find((other) => other[key] === item[key]) : undefined;
    return patch === undefined || !isObject(item) ? item : strategicMerge(item, patch);
  });
  const added = keyed.filter((patch) => !now.some((item) => isObject(item) && item[key] === patch[key]));
  return [...added, ...kept];
}
