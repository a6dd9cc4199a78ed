/**
 * The RBAC permissions that a part needs: the verbs that the runtime sends for its declarations.
 */
import type { AnyKind } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import type { Controller } from "./controller.ts";
import type { Webhook } from "./webhook.ts";

/** An RBAC permission of a part: one verb on one resource. */
export interface PartRbacRule {
  readonly group: string;
  readonly version: string;
  /**
   * The plural name, followed by a slash and the subresource if there is one: `websites/status`.
   */
  readonly resource: string;
  readonly verb: string;
  readonly namespaced: boolean;
  /** The only objects that it applies to, or absent for all. */
  readonly names?: readonly string[];
  /** The only namespaces where it is needed, or absent for all that the operator watches. */
  readonly namespaces?: readonly string[];
  /**
   * Whether the part cannot run without it (`always`), only the part's own calls need it, perhaps
   * in one namespace (`direct`), or only some clusters or objects need it (`optional`).
   */
  readonly need: "always" | "direct" | "optional";
  /** What needs it, as a clause: `watches its own kind Website`. */
  readonly reason: string;
}

/**
 * Returns the RBAC permissions of a controller, each once.
 *
 * @param controller The controller.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { controller } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 *
 * const namespaces = controller(Namespace, { reconcile() {} });
 * assert.deepEqual(controllerRbacRules(namespaces).map(describeRule), [
 *   "list namespaces",
 *   "watch namespaces",
 * ]);
 * ```
 */
export function controllerRbacRules(controller: Controller): PartRbacRule[] {
  const { kind, owns, reads, uses, watches, prune, writesStatus, cleanup } = controller;
  return unique([
    ...watched(kind, `watches its own kind ${kind.kind}`),
    ...finalizerRules(),
    ...(writesStatus ? [on(kind, "patch", `writes the status of ${kind.kind}`, { subresource: "status" })] : []),
    ...(owns.length === 0 ? [] : [
      // Needed if the cluster runs the admission plugin OwnerReferencesPermissionEnforcement.
      on(kind, "update", `sets owner references to ${kind.kind} on objects that it applies`, {
        subresource: "finalizers",
        need: "optional",
      }),
    ]),
    ...owns.flatMap((of) => [
      ...watched(of, `owns ${of.kind}: watches it`),
      ...["create", "patch"].map((verb) => on(of, verb, `owns ${of.kind}: applies it`)),
      ...(prune ? [on(of, "delete", `owns ${of.kind}: deletes unwanted objects`)] : []),
    ]),
    ...reads.flatMap((of) => watched(of, `reads ${of.kind}`)),
    ...watches.flatMap(({ kind: of, options: { names } }) =>
      names === undefined
        ? watched(of, `watches ${of.kind}`)
        : watched(of, `watches each named ${of.kind}`, typeof names === "function" ? undefined : names)
    ),
    ...uses.flatMap(({ kind: of, verbs }) =>
      verbs.map((verb) => on(of, verb, `uses ${of.kind}: access(${of.kind}, "${verb}")`, { need: "direct" }))
    ),
  ]);

  function watched(of: AnyKind, reason: string, names?: readonly string[]): PartRbacRule[] {
    return ["list", "watch"].map((verb) => ({
      ...on(of, verb, reason),
      ...(names === undefined ? {} : { names: [...new Set(names)].sort() }),
    }));
  }

  /**
   * Finalizers of an earlier version with `cleanup` are removed from own kinds, so that their
   * objects can be deleted. Objects of other kinds are not patched for that, because a controller
   * that only watches, for example, Namespaces must not need the permission to patch them.
   */
  function finalizerRules(): PartRbacRule[] {
    if (cleanup !== undefined) return [on(kind, "patch", `adds and removes its finalizer on ${kind.kind}`)];
    if (!isOwnKind(kind)) return [];
    const reason = `removes the finalizer that an earlier version added to ${kind.kind}`;
    return [on(kind, "patch", reason, { need: "optional" })];
  }

  function on(
    of: AnyKind,
    verb: string,
    reason: string,
    { subresource, need = "always" }: { readonly subresource?: string; readonly need?: PartRbacRule["need"] } = {},
  ): PartRbacRule {
    // A direct call may be for any namespace. Watched kinds are needed where they are watched.
    const namespaces = need === "direct" ? undefined : watchedNamespaces(controller, of);
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
 * Returns the RBAC permissions of a webhook: those to read.
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
      verbs.map((verb) => on(kind, verb, "direct", `uses ${kind.kind}: access(${kind.kind}, "${verb}")`))
    ),
  ]);
}

/**
 * Returns the only namespaces where a controller watches a kind, or `undefined` for all.
 *
 * @param controller The controller.
 * @param kind The kind.
 */
export function watchedNamespaces({ watches }: Controller, kind: AnyKind): readonly string[] | undefined {
  if (!kind.namespaced) return undefined;
  return watches.find((watch) => identity(watch.kind) === identity(kind))?.options.namespaces;
}

/**
 * Returns the verb and resource of a rule as text: `patch websites.demo.example.com/status`.
 *
 * @param rule The rule.
 */
export function describeRule({ verb, resource, group }: Pick<PartRbacRule, "verb" | "resource" | "group">): string {
  const [plural, subresource] = resource.split("/");
  return `${verb} ${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** Returns each rule once. If one of several equal rules is always needed, it is kept. */
function unique(rules: readonly PartRbacRule[]): PartRbacRule[] {
  const seen = new Map<string, PartRbacRule>();
  for (const rule of rules) {
    const key = JSON.stringify([describeRule(rule), rule.namespaces, rule.names]);
    const held = seen.get(key);
    if (held === undefined || (rule.need === "always" && held.need !== "always")) seen.set(key, rule);
  }
  return [...seen.values()];
}

function identity({ kind, version, group }: AnyKind): string {
  return `${kind}.${version}.${group}`;
}
