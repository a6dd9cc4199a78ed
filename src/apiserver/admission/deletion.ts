/** Deletions as webhooks are asked about them. */
import type { Core } from "../core/core.ts";
import { deletable, deleteObject, type Removed } from "../core/remove.ts";
import type { Target } from "../core/target.ts";
import type { DeleteOptions } from "../objects/options.ts";
import { withConversions } from "../webhooks/conversion.ts";
import { forbidden } from "../wire/status_error.ts";
import { namespaceOf } from "./admitted.ts";
import { askAboutDeletion, hasWebhooks } from "./dispatch.ts";

/** Namespaces that no cluster can do without (`k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle`). */
const IMMORTAL = new Set(["default", "kube-system", "kube-public"]);

/** Which object of a target is meant. */
export interface Deleted {
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * Deletes an object, unless a webhook refuses.
 *
 * @param core The server.
 * @param target What the request is about.
 * @param deleted Which object.
 * @param options Additional options.
 * @throws {StatusError} If it is not there, not the one that was meant, or a webhook refuses.
 */
export async function deleteAdmitted(
  core: Core,
  target: Target,
  { namespace, name }: Deleted,
  options: DeleteOptions,
): Promise<Removed> {
  const { kind, subresource, user, warnings } = target;
  if (kind.rules.convertAll !== undefined) {
    await withConversions(() => kind.rules.convertAll!(deletable(core, kind, namespace, name, options)));
  }
  if (kind.collection === "/namespaces" && IMMORTAL.has(name)) {
    throw forbidden(kind, name, "this namespace may not be deleted");
  }
  if (hasWebhooks(core, kind)) {
    const old = kind.rules.read(deletable(core, kind, namespace, name, options));
    // A webhook that is asked about a whole collection is told of no name.
    const asked = target.name ?? "";
    const write = {
      operation: "DELETE" as const,
      kind,
      namespace: namespaceOf(kind, namespace, asked),
      name: asked,
      subresource,
      user,
      dryRun: options.dryRun,
      options: shown(options),
      warnings,
    };
    await askAboutDeletion(core, write, old);
  }
  return deleteObject(core, kind, namespace, name, options);
}

function shown(options: DeleteOptions): Record<string, unknown> {
  const { dryRun, gracePeriodSeconds, preconditions, propagationPolicy } = options;
  return {
    kind: "DeleteOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions !== undefined && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(dryRun && { dryRun: ["All"] }),
  };
}
