/** Writes as webhooks are asked about them. */
import type { Core } from "../core/core.ts";
import { runWithAdmission, runWithoutAdmission, type Steps } from "../core/steps.ts";
import type { Target } from "../core/target.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { WriteOptions } from "../objects/options.ts";
import { askWebhooks, hasWebhooks, type Write } from "./dispatch.ts";

/**
 * Makes a write, asking the webhooks where there are any that may want to know.
 *
 * @param core The server.
 * @param write What webhooks are told of it.
 * @param steps The write.
 * @throws {StatusError} If it is refused.
 */
export async function admitted<T>(core: Core, write: Write, steps: Steps<T>): Promise<T> {
  const isAsked = hasWebhooks(core, write.kind);
  if (!isAsked && write.kind.rules.convertAll === undefined) return runWithoutAdmission(steps);
  return await runWithAdmission(
    steps,
    (step) => isAsked ? askWebhooks(core, write, step) : Promise.resolve(step.object),
  );
}

/**
 * What webhooks are told of a create or an update.
 *
 * @param target Where it goes.
 * @param operation Which of the two.
 * @param options How it is made.
 * @param name Its name, where the path has none.
 */
export function writeOf(
  target: Target,
  operation: "CREATE" | "UPDATE",
  options: WriteOptions,
  name: string = target.name ?? "",
): Write {
  const { kind, namespace, subresource, user, warnings, query } = target;
  const given = (key: string) => query.get(key) || undefined;
  const asked = {
    kind: operation === "CREATE" ? "CreateOptions" : "UpdateOptions",
    apiVersion: "meta.k8s.io/v1",
    ...(options.dryRun && { dryRun: query.getAll("dryRun") }),
    ...(given("fieldManager") && { fieldManager: given("fieldManager") }),
    ...(given("fieldValidation") && { fieldValidation: given("fieldValidation") }),
  };
  return {
    operation,
    kind,
    namespace: namespaceOf(kind, namespace, name),
    name,
    subresource,
    user,
    dryRun: options.dryRun,
    options: asked,
    warnings,
  };
}

/** A namespace is taken to be in itself. */
export function namespaceOf(kind: ServedKind, namespace: string | undefined, name: string): string | undefined {
  return kind.collection === "/namespaces" && name !== "" ? name : namespace;
}
