/** What tests used of an operator's rights, told to whoever started them: `op rbac unused` names a folder, and each cluster writes what it saw there. */
import type { UsedRight } from "./rights.ts";

/** The variable that names the folder. */
export const USED_RIGHTS = "OP_USED_RIGHTS";

/**
 * Tells which rights were used, where somebody asked for it.
 *
 * @param usage Each right, and whether it was used.
 */
export function tellUsedRights(usage: readonly UsedRight[]): void {
  // A test may run without permissions: then nobody asked.
  const mayRead = Deno.permissions.querySync({ name: "env", variable: USED_RIGHTS }).state === "granted";
  const folder = mayRead ? Deno.env.get(USED_RIGHTS) : undefined;
  if (folder === undefined || folder === "") return;
  Deno.writeTextFileSync(`${folder}/${crypto.randomUUID()}.json`, JSON.stringify(usage));
}
