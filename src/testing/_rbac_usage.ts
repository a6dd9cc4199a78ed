/**
 * Reports the use of RBAC rules in tests to `op rbac unused`. The command runs the tests with an
 * environment variable that names a folder, and each memory cluster writes a file to it.
 */
import type { UsedRbacRule } from "./rbac.ts";

/** Environment variable with the folder. `cli/rbac/unused.ts` sets it. */
export const RBAC_USAGE = "OP_RBAC_USAGE";

/**
 * Writes the use of RBAC rules to a file, if {@linkcode RBAC_USAGE} is set.
 *
 * @param usage Each rule, and whether it was used.
 */
export function writeRbacUsage(usage: readonly UsedRbacRule[]): void {
  // A test may run without sandbox permissions. `op rbac unused` grants all of them.
  const mayRead = Deno.permissions.querySync({ name: "env", variable: RBAC_USAGE }).state === "granted";
  const folder = mayRead ? Deno.env.get(RBAC_USAGE) : undefined;
  if (folder === undefined || folder === "") return;
  Deno.writeTextFileSync(`${folder}/${crypto.randomUUID()}.json`, JSON.stringify(usage));
}
