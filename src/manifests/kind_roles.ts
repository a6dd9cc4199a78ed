/** Roles for the users of an operator's kinds: to view, edit and administer its objects. */
import type { AnyKind, CustomResourceDefinitionManifest } from "../resource/kind.ts";
import type { AdditionalPolicyRule } from "./install.ts";
import { labelsOf, type Manifest } from "./manifest.ts";

/** The roles of a kind, each with the cluster's default role that aggregates it. */
const ROLES = {
  admin: {
    verbs: ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
    into: "admin",
  },
  editor: { verbs: ["get", "list", "watch", "create", "update", "patch", "delete"], into: "edit" },
  viewer: { verbs: ["get", "list", "watch"], into: "view" },
} as const;

/**
 * Returns three ClusterRoles for each own kind: `admin`, `editor`, `viewer`. The default roles
 * `admin`, `edit` and `view` of every cluster aggregate those of namespaced kinds, so a user who
 * may edit Deployments in a namespace may edit these objects there too.
 *
 * @param operator The operator's name.
 * @param crds The definitions of the operator's own kinds.
 */
export function kindRoles(operator: string, crds: readonly CustomResourceDefinitionManifest[]): Manifest[] {
  return crds.flatMap(({ spec: { group, names: { plural }, scope, versions } }) => {
    const isAmbiguous = crds.filter(({ spec }) => spec.names.plural === plural).length > 1;
    const has = (subresource: "status" | "scale") =>
      versions.some(({ subresources }) => subresources?.[subresource] !== undefined);
    return Object.entries(ROLES).map(([role, { verbs, into }]): Manifest => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: {
        name: `${operator}-${isAmbiguous ? `${plural}.${group}` : plural}-${role}`,
        labels: {
          ...labelsOf(operator),
          ...(scope === "Cluster" ? {} : { [`rbac.authorization.k8s.io/aggregate-to-${into}`]: "true" }),
        },
      },
      rules: [
        rule(plural, verbs),
        // Only the operator writes the status.
        ...(has("status") ? [rule(`${plural}/status`, ["get"])] : []),
        ...(has("scale") ? [rule(`${plural}/scale`, role === "viewer" ? ["get"] : ["get", "update", "patch"])] : []),
      ],
    }));

    function rule(resource: AnyKind["plural"], verbs: readonly string[]): AdditionalPolicyRule {
      return { apiGroups: [group], resources: [resource], verbs };
    }
  });
}
