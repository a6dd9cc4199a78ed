/**
 * Finds the ClusterRoles for users of kinds that only an earlier version of an operator had. `op
 * deploy` and `op uninstall` delete them.
 */
import type { KubeObject } from "@op/sdk";
import { ClusterRole } from "@op/sdk/kinds";
import { ID_LABEL, NAME_LABEL } from "../internal/mod.gen.ts";
import type { Cluster } from "../cluster.ts";
import { DEV_MANAGER, MANAGER } from "../field_manager.ts";
import type { PlainObject } from "../objects.ts";
import { kindsInRules } from "./ownership.ts";

/** Suffixes of the names of the roles that `op` generates for each kind. */
const ROLES = ["admin", "editor", "viewer"];

/** Field managers by which `op` applies roles. */
const MANAGERS: readonly string[] = [MANAGER, DEV_MANAGER];

/**
 * Returns the ClusterRoles for users of kinds that operators no longer have.
 *
 * @param cluster The cluster.
 * @param objects All objects of these operators, as they are declared now.
 */
export async function obsoleteRoles(cluster: Cluster, objects: readonly PlainObject[]): Promise<KubeObject[]> {
  const declared = new Set(objects.filter(({ kind }) => kind === "ClusterRole").map(({ metadata }) => metadata.name));
  const accounts = objects.filter(({ kind, metadata: { name, labels } }) =>
    kind === "ServiceAccount" && labels?.[NAME_LABEL] === name
  );
  const obsolete = await Promise.all(accounts.map(async ({ metadata: { name, labels } }) => {
    const roles = await cluster.client.list(ClusterRole, { labelSelector: `${NAME_LABEL}=${name}` });
    return roles.filter((role) =>
      role.metadata.labels?.[ID_LABEL] === labels?.[ID_LABEL] && !declared.has(role.metadata.name) &&
      isForUsers(role, name)
    );
  }));
  return obsolete.flat();
}

/**
 * Returns whether `op` generated a role for the users of a kind: the role is named after the kind
 * in its rules.
 */
function isForUsers({ metadata, ...role }: KubeObject, operator: string): boolean {
  const { name, managedFields = [] } = metadata;
  if (!managedFields.some(({ manager = "" }) => MANAGERS.includes(manager))) return false;
  const kinds = kindsInRules({ ...role, kind: "ClusterRole", metadata });
  const [kind = ""] = kinds;
  const [plural] = kind.split(".");
  return kinds.length === 1 &&
    [plural, kind].some((kindName) => ROLES.some((one) => name === `${operator}-${kindName}-${one}`));
}
