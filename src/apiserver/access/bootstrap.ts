/** The roles and bindings that a cluster begins with, among them `cluster-admin`, `admin`, `edit` and `view`. */
import { accessData } from "../../openapi/access.gen.ts";
import type { Core } from "../core.ts";
import { trackUpdate } from "../managed_fields.ts";
import type { Draft } from "../objects.ts";
import { createObject } from "../persist.ts";
import { RBAC } from "./authorizer.ts";

/**
 * Makes the roles and bindings of a fresh cluster.
 *
 * @param core The server, with its kinds and namespaces.
 */
export function createInitialRoles(core: Core): void {
  for (const [plural, object] of JSON.parse(accessData) as readonly [plural: string, object: Draft][]) {
    const kind = core.kinds.get(RBAC, "v1", plural);
    if (kind === undefined) continue;
    const draft = { apiVersion: kind.apiVersion, kind: kind.kind, ...object };
    const { namespace } = object.metadata as { namespace?: string };
    createObject(core, kind, draft, {
      namespace,
      dryRun: false,
      track: (made) => trackUpdate(core, kind, undefined, made, { manager: "kube-apiserver" }),
    });
  }
}
