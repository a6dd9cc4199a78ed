/** What a controller asks of the API server, as rights: the verbs that the runtime really sends for what is declared. */
import type { AnyKind } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import type { Controller } from "./controller.ts";
import type { Webhook } from "./webhook.ts";

/** A right of a controller: one verb on one resource. */
export interface PartRbacRule {
  readonly group: string;
  readonly version: string;
  /** The plural, with a subresource behind a slash: `websites/status`. */
  readonly resource: string;
  readonly verb: string;
  readonly namespaced: boolean;
  /** The only objects that it is about, by name; absent for all. */
  readonly names?: readonly string[];
  /** The only namespaces where it is needed; absent for those of the operator. */
  readonly namespaces?: readonly string[];
  /**
   * Whether nothing can be done without it, a call of the controller's own needs it (it may be meant for one namespace, where a role of that namespace
   * grants it), or only some clusters and some objects ask for it.
   */
  readonly need: "always" | "live" | "seldom";
  /** What it is for, as a clause: `watches its own kind Website`. */
  readonly reason: string;
}

/**
 * The rights of a controller, each once.
 *
 * @param controller The controller.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 *
 * assert.deepEqual(controllerRbacRules(controller(Namespace, { reconcile() {} })).map(describeRule), [
 *   "list namespaces",
 *   "watch namespaces",
 * ]);
 * ```
 */
export function controllerRbacRules(controller: Controller): PartRbacRule[] {
  const { kind, owns, reads, uses, watches, prune, writesStatus, cleanup } = controller;
  return unique([
    ...watched(kind, `watches its own kind ${kind.kind}`),
    ...finalizerRights(),
    ...(writesStatus ? [on(kind, "patch", `writes the status of ${kind.kind}`, { subresource: "status" })] : []),
    ...(owns.length === 0 ? [] : [
      // Asked for where the cluster checks who may block the deletion of an owner (OwnerReferencesPermissionEnforcement).
      on(kind, "update", `makes ${kind.kind} the owner of what it applies`, {
        subresource: "finalizers",
        need: "seldom",
      }),
    ]),
    ...owns.flatMap((of) => [
      ...watched(of, `owns ${of.kind}: watches it`),
      ...["create", "patch"].map((verb) => on(of, verb, `owns ${of.kind}: applies it`)),
      ...(prune ? [on(of, "delete", `owns ${of.kind}: deletes what is not wanted any more`)] : []),
    ]),
    ...reads.flatMap((of) => watched(of, `reads ${of.kind}`)),
    ...watches.flatMap(({ kind: of, options: { names } }) =>
      names === undefined
        ? watched(of, `watches ${of.kind}`)
        : watched(of, `watches each ${of.kind} that is named`, typeof names === "function" ? undefined : names)
    ),
    ...uses.flatMap(({ kind: of, verbs }) =>
      verbs.map((verb) => on(of, verb, `uses ${of.kind}: access(${of.kind}, "${verb}")`, { need: "live" }))
    ),
  ]);

  function watched(of: AnyKind, reason: string, names?: readonly string[]): PartRbacRule[] {
    return ["list", "watch"].map((verb) => ({
      ...on(of, verb, reason),
      ...(names === undefined ? {} : { names: [...new Set(names)].sort() }),
    }));
  }

  /**
   * A finalizer of an earlier version is taken off kinds of one's own, that they are not stranded. Kinds of others are not patched for that: who only
   * watches Namespaces may not change them.
   */
  function finalizerRights(): PartRbacRule[] {
    if (cleanup !== undefined) return [on(kind, "patch", `puts its finalizer on ${kind.kind} and takes it off`)];
    if (!isOwnKind(kind)) return [];
    const reason = `takes a finalizer off ${kind.kind} that an earlier version with a cleanup left`;
    return [on(kind, "patch", reason, { need: "seldom" })];
  }

  function on(
    of: AnyKind,
    verb: string,
    reason: string,
    { subresource, need = "always" }: { readonly subresource?: string; readonly need?: PartRbacRule["need"] } = {},
  ): PartRbacRule {
    // A live call may be for any namespace; what is watched is where it is watched.
    const namespaces = need === "live" ? undefined : watchedNamespaces(controller, of);
    return {
      group: of.group,
      version: of.version,
      resource: subresource === undefined ? of.plural : `${of.plural}/${subresource}`,
      verb,
      namespaced: of.namespaced,
      ...(namespaces === undefined ? {} : { namespaces }),
      need,
      reason,
    };
  }
}

/**
 * The rights of a webhook: what it reads.
 *
 * @param webhook The webhook.
 */
export function webhookRbacRules({ reads, uses }: Webhook): PartRbacRule[] {
  const on = (kind: AnyKind, verb: string, need: PartRbacRule["need"], reason: string): PartRbacRule => ({
    group: kind.group,
    version: kind.version,
    resource: kind.plural,
    verb,
    namespaced: kind.namespaced,
    need,
    reason,
  });
  return unique([
    ...reads.flatMap((kind) => ["list", "watch"].map((verb) => on(kind, verb, "always", `reads ${kind.kind}`))),
    ...uses.flatMap(({ kind, verbs }) =>
      verbs.map((verb) => on(kind, verb, "live", `uses ${kind.kind}: access(${kind.kind}, "${verb}")`))
    ),
  ]);
}

/**
 * The only namespaces where a controller watches a kind, where it says so.
 *
 * @param controller The controller.
 * @param kind The kind.
 */
export function watchedNamespaces({ watches }: Controller, kind: AnyKind): readonly string[] | undefined {
  if (!kind.namespaced) return undefined;
  return watches.find((watch) => identity(watch.kind) === identity(kind))?.options.namespaces;
}

/**
 * A right in words: `patch websites.demo.example.com/status`.
 *
 * @param right The right.
 */
export function describeRule({ verb, resource, group }: Pick<PartRbacRule, "verb" | "resource" | "group">): string {
  const [plural, subresource] = resource.split("/");
  return `${verb} ${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** Of two for one thing the first is kept, unless the other is needed more. */
function unique(rights: readonly PartRbacRule[]): PartRbacRule[] {
  const seen = new Map<string, PartRbacRule>();
  for (const right of rights) {
    const key = JSON.stringify([describeRule(right), right.namespaces, right.names]);
    const held = seen.get(key);
    if (held === undefined || (right.need === "always" && held.need !== "always")) seen.set(key, right);
  }
  return [...seen.values()];
}

function identity({ kind, version, group }: AnyKind): string {
  return `${kind}.${version}.${group}`;
}
