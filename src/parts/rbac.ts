/**
 * The RBAC permissions that a part needs, derived from its declarations.
 */
import type { AnyKind } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import { type ControllerUnit, type HandlerGroup, statefulHandlers } from "./handlers/group.ts";
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
   * `always`: the part cannot run without it. `direct`: only calls in the part's own code need it,
   * possibly in a single namespace. `optional`: only some clusters or objects need it.
   */
  readonly need: "always" | "direct" | "optional";
  /** Why the part needs it, as a verb phrase: `watches its own kind Website`. */
  readonly reason: string;
}

/**
 * Returns the RBAC permissions of a controller or of the handlers of a kind, without duplicates.
 *
 * @param controller The controller, or the handlers.
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
export function controllerRbacRules(controller: ControllerUnit): PartRbacRule[] {
  const { kind, owns, reads, uses, watches, prune, writesStatus, cleanup } = controller;
  return unique([
    ...watchRules(kind, `watches its own kind ${kind.kind}`),
    ...finalizerRules(),
    ...(writesStatus ? [rule(kind, "patch", `writes the status of ${kind.kind}`, { subresource: "status" })] : []),
    ...(controller.part === "handlers" ? stateRules(controller) : []),
    ...(owns.length === 0 ? [] : [
      // Needed if the cluster runs the admission plugin OwnerReferencesPermissionEnforcement.
      rule(kind, "update", `sets owner references to ${kind.kind} on objects that it applies`, {
        subresource: "finalizers",
        need: "optional",
      }),
    ]),
    ...owns.flatMap((of) => [
      ...watchRules(of, `owns ${of.kind}: watches it`),
      ...["create", "patch"].map((verb) => rule(of, verb, `owns ${of.kind}: applies it`)),
      ...(prune ? [rule(of, "delete", `owns ${of.kind}: deletes unwanted objects`)] : []),
    ]),
    ...reads.flatMap((of) => watchRules(of, `reads ${of.kind}`)),
    ...watches.flatMap(({ kind: of, options: { names } }) =>
      names === undefined
        ? watchRules(of, `watches ${of.kind}`)
        : watchRules(of, `watches each named ${of.kind}`, typeof names === "function" ? undefined : names)
    ),
    ...uses.flatMap(({ kind: of, verbs }) =>
      verbs.map((verb) => rule(of, verb, `uses ${of.kind}: access(${of.kind}, "${verb}")`, { need: "direct" }))
    ),
  ]);

  function watchRules(of: AnyKind, reason: string, names?: readonly string[]): PartRbacRule[] {
    return ["list", "watch"].map((verb) => ({
      ...rule(of, verb, reason),
      ...(names === undefined ? {} : { names: [...new Set(names)].sort() }),
    }));
  }

  /**
   * If an earlier version of the controller had `cleanup`, its finalizer is removed from objects of
   * own kinds, so that they can be deleted. Objects of other kinds are not patched for that:
   * otherwise a controller that only watches Namespaces would need the permission to patch them.
   */
  function finalizerRules(): PartRbacRule[] {
    if (cleanup !== undefined) return [rule(kind, "patch", `adds and removes its finalizer on ${kind.kind}`)];
    if (!isOwnKind(kind)) return [];
    const reason = `removes the finalizer that an earlier version added to ${kind.kind}`;
    return [rule(kind, "patch", reason, { need: "optional" })];
  }

  /** Returns the rule for storing which changes were handled. */
  function stateRules(group: HandlerGroup): PartRbacRule[] {
    const stateful = statefulHandlers(group);
    if (stateful.length === 0) return [];
    const reason = `stores the handler state of ${stateful.join(", ")}`;
    return [rule(kind, "patch", reason, group.storage === "status" ? { subresource: "status" } : {})];
  }

  function rule(
    of: AnyKind,
    verb: string,
    reason: string,
    { subresource, need = "always" }: { readonly subresource?: string; readonly need?: PartRbacRule["need"] } = {},
  ): PartRbacRule {
    // A direct call may be for any namespace. A watch needs its permissions only where it watches.
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
 * Returns the RBAC permissions of a webhook. A webhook only reads.
 *
 * @param webhook The webhook.
 */
export function webhookRbacRules({ reads, uses }: Webhook): PartRbacRule[] {
  const rule = (kind: AnyKind, verb: string, need: PartRbacRule["need"], reason: string): PartRbacRule => ({
    group: kind.group,
    version: kind.version,
    resource: kind.plural,
    verb,
    namespaced: kind.namespaced,
    need,
    reason,
  });
  return unique([
    ...reads.flatMap((kind) => ["list", "watch"].map((verb) => rule(kind, verb, "always", `reads ${kind.kind}`))),
    ...uses.flatMap(({ kind, verbs }) =>
      verbs.map((verb) => rule(kind, verb, "direct", `uses ${kind.kind}: access(${kind.kind}, "${verb}")`))
    ),
  ]);
}

/**
 * Returns the only namespaces where a controller watches a kind, or `undefined` for all.
 *
 * @param controller The controller.
 * @param kind The kind.
 */
export function watchedNamespaces(
  { watches }: Pick<ControllerUnit, "watches">,
  kind: AnyKind,
): readonly string[] | undefined {
  if (!kind.namespaced) return undefined;
  return watches.find((watch) => identity(watch.kind) === identity(kind))?.options.namespaces;
}

/**
 * Returns the verb and resource of a rule as a string: `patch websites.demo.example.com/status`.
 *
 * @param rule The rule.
 */
export function describeRule({ verb, resource, group }: Pick<PartRbacRule, "verb" | "resource" | "group">): string {
  const [plural, subresource] = resource.split("/");
  return `${verb} ${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** Removes duplicate rules. Of duplicates, one whose `need` is `always` is kept. */
function unique(rules: readonly PartRbacRule[]): PartRbacRule[] {
  const seen = new Map<string, PartRbacRule>();
  for (const rule of rules) {
    const key = JSON.stringify([describeRule(rule), rule.namespaces, rule.names]);
    const earlier = seen.get(key);
    if (earlier === undefined || (rule.need === "always" && earlier.need !== "always")) seen.set(key, rule);
  }
  return [...seen.values()];
}

function identity({ kind, version, group }: AnyKind): string {
  return `${kind}.${version}.${group}`;
}
