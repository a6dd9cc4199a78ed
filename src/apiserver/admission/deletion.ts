/** Deletes objects with admission webhooks. */
import type { Core } from "../core/core.ts";
import { deleteObject, type DeleteResult, storedToDelete } from "../core/remove.ts";
import type { Target } from "../core/target.ts";
import type { DeleteOptions } from "../objects/options.ts";
import { withConversions } from "../webhooks/conversion.ts";
import { forbidden } from "../wire/status_error.ts";
import { namespaceOf } from "./admitted.ts";
import { callWebhooksForDeletion, hasWebhooks } from "./dispatch.ts";

/**
 * Namespaces that cannot be deleted (`k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle`).
 */
const UNDELETABLE = new Set(["default", "kube-system", "kube-public"]);

/** Namespace and name of the object to delete. */
export interface DeletedObject {
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * Deletes an object, unless a webhook denies it.
 *
 * @param core The server.
 * @param target Target of the request.
 * @param deleted Namespace and name of the object.
 * @param options Additional options.
 * @throws {StatusError} If the object does not exist, a precondition fails, or a webhook denies the
 * deletion.
 */
export async function deleteAdmitted(
  core: Core,
  target: Target,
  { namespace, name }: DeletedObject,
  options: DeleteOptions,
): Promise<DeleteResult> {
  const { kind, subresource, user, warnings } = target;
  if (kind.rules.convertAll !== undefined) {
    await withConversions(() => kind.rules.convertAll!(storedToDelete(core, kind, namespace, name, options)));
  }
  if (kind.collection === "/namespaces" && UNDELETABLE.has(name)) {
    throw forbidden(kind, name, "this namespace may not be deleted");
  }
  if (hasWebhooks(core, kind)) {
    const old = kind.rules.read(storedToDelete(core, kind, namespace, name, options));
    // Webhooks receive no name for the deletion of a collection.
    const requestName = target.name ?? "";
    const write = {
      operation: "DELETE" as const,
      kind,
      namespace: namespaceOf(kind, namespace, requestName),
      name: requestName,
      subresource,
      user,
      dryRun: options.dryRun,
      options: toApiObject(options),
      warnings,
    };
    await callWebhooksForDeletion(core, write, old);
  }
  return deleteObject(core, kind, namespace, name, options);
}

function toApiObject(options: DeleteOptions): Record<string, unknown> {
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
