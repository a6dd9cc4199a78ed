/** Runs writes with admission webhooks. */
import type { Core } from "../core/core.ts";
import { runWithAdmission, runWithoutAdmission, type Steps } from "../core/steps.ts";
import type { Target } from "../core/target.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { WriteOptions } from "../objects/options.ts";
import { callWebhooks, hasWebhooks, type Write } from "./dispatch.ts";

/**
 * Runs a write, and calls the webhooks that may match it.
 *
 * @param core The server.
 * @param write Description of the write for webhooks.
 * @param steps The write.
 * @throws {StatusError} If the write is rejected.
 */
export async function writeAdmitted<T>(core: Core, write: Write, steps: Steps<T>): Promise<T> {
  const isReviewed = hasWebhooks(core, write.kind);
  if (!isReviewed && write.kind.rules.convertAll === undefined) return runWithoutAdmission(steps);
  return await runWithAdmission(
    steps,
    (step) => isReviewed ? callWebhooks(core, write, step) : Promise.resolve(step.object),
  );
}

/**
 * Returns the description of a create or update for webhooks.
 *
 * @param target Target of the request.
 * @param operation The operation.
 * @param options Options of the request.
 * @param name Name of the object, if the path has none.
 */
export function writeOf(
  target: Target,
  operation: "CREATE" | "UPDATE",
  options: WriteOptions,
  name: string = target.name ?? "",
): Write {
  const { kind, namespace, subresource, user, warnings, query } = target;
  const parameter = (key: string) => query.get(key) || undefined;
  const requestOptions = {
    kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(options.dryRun && { dryRun: query.getAll("dryRun") }),
    ...(parameter("fieldManager") && { fieldManager: parameter("fieldManager") }),
    ...(parameter("fieldValidation") && { fieldValidation: parameter("fieldValidation") }),
  };
  return {
    operation,
    kind,
    namespace: namespaceOf(kind, namespace, name),
    name,
    subresource,
    user,
    dryRun: options.dryRun,
    options: requestOptions,
    warnings,
  };
}

/** Returns the namespace in a review. For a Namespace, it is the object's own name. */
export function namespaceOf(kind: ServedKind, namespace: string | undefined, name: string): string | undefined {
  return kind.collection === "/namespaces" && name !== "" ? name : namespace;
}
