/**
 * The RBAC permissions of an operator: one rule per verb and resource, with the declaration that
 * needs it.
 */
import { certificatePolicy, type CertificateWrites, POLICY_PERMISSION } from "./certificate_policy.ts";
import type { ControllerUnit } from "../parts/handlers/group.ts";
import { compile, type Parts } from "../parts/part_types.ts";
import { type PartRbacRule, watchedNamespaces } from "../parts/rbac.ts";
import { unitRbacRules } from "../parts/units.ts";

/**
 * Where a rule is needed: in the namespaces that the operator watches, in the whole cluster (for
 * cluster-scoped kinds), or in the operator's own namespace.
 */
export type RbacScope = "watched" | "cluster" | "own";

/** An RBAC permission: one verb on one resource, and its reason. */
export interface RbacRule {
  /** The API group. Empty for the core group. */
  readonly group: string;
  /**
   * The plural name, followed by a slash and the subresource if there is one: `websites`,
   * `websites/status`.
   */
  readonly resource: string;
  /** The RBAC verb: `list`, `watch`, `patch`. */
  readonly verb: string;
  /** The names of the objects that it applies to. Empty for all objects. */
  readonly resourceNames: readonly string[];
  /** Where it is needed, which decides between a Role and a ClusterRole. */
  readonly scope: RbacScope;
  /**
   * The namespaces where it is needed, if a watch or the leader election names them. They do not
   * depend on the namespaces that the operator watches and runs in. Absent otherwise.
   */
  readonly namespaces?: readonly string[];
  /** Whether only some clusters or objects need it, so that tests may not use it. */
  readonly optional?: true;
  /**
   * Whether only calls in the part's code need it, possibly in one namespace. The part also runs
   * without it.
   */
  readonly direct?: true;
  /** The key of the part that declares it. Absent if the operator itself needs it. */
  readonly part?: string;
  /** The feature of the SDK that needs it, if an installation may turn that feature off. */
  readonly purpose?: "webhook certificate";
  /** The reason, as a clause without a subject: `watches its own kind Website`. */
  readonly reason: string;
}

/** Options of {@linkcode rbacRulesOf}, in addition to the parts. */
export interface RbacOptions {
  /** The Lease of the leader election, or `undefined` if there is none. */
  readonly lease?: { readonly name: string; readonly namespace?: string | undefined } | undefined;
  /**
   * The objects that the operator writes for its webhook certificate, and the operator's name.
   * `undefined` if it does not issue the certificate itself.
   */
  readonly certificates?: CertificateWrites & { readonly operator: string } | undefined;
  /** Whether reconciles report Kubernetes Events. @default {false} */
  readonly events?: boolean;
  /** Whether the operator authorizes requests for its metrics. @default {false} */
  readonly authorizesMetrics?: boolean;
}

/**
 * Returns the RBAC permissions of an operator: the verbs that its runtime sends, and no others.
 *
 * @param parts The operator's parts, by key.
 * @param options The features of the operator itself that need RBAC permissions.
 * @returns Each rule once per part that needs it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const rules = rbacRulesOf({}, { lease: { name: "shop" } });
 * assert.deepEqual(rules.map(({ verb, resource }) => `${verb} ${resource}`), [
 *   "create leases",
 *   "get leases",
 *   "patch leases",
 * ]);
 * ```
 */
export function rbacRulesOf(parts: Parts, options: RbacOptions = {}): RbacRule[] {
  const { lease, certificates, events = false, authorizesMetrics = false } = options;
  const units = compile(parts);
  return [
    ...unitRbacRules(units).map(([key, rule]) => ruleOf(key, rule)),
    ...(events ? eventRules([...units.controllers.values()]) : []),
    ...(lease === undefined ? [] : leaseRules(lease, "elects its leader")),
    ...(certificates === undefined ? [] : certificateRules(certificates)),
    ...(authorizesMetrics ? REVIEWS : []),
  ];
}

function ruleOf(part: string, rule: PartRbacRule): RbacRule {
  const { group, resource, verb, namespaced, names = [], namespaces, need, reason } = rule;
  const scope = namespaced ? "watched" : "cluster";
  const limit = namespaces === undefined ? {} : { namespaces };
  const needed = need === "always" ? {} : { [need]: true as const };
  return { group, resource, verb, resourceNames: names, scope, ...limit, ...needed, part, reason };
}

/**
 * Events are in the namespace of their object, and those about cluster-scoped objects in `default`.
 * A repeated Event is patched.
 */
function eventRules(controllers: readonly ControllerUnit[]): RbacRule[] {
  const namespaces = controllers.map((controller) =>
    controller.kind.namespaced ? watchedNamespaces(controller, controller.kind) : ["default"]
  );
  const some = [...new Set(namespaces.flatMap((list) => list ?? []))];
  const event = { group: "events.k8s.io", resource: "events", resourceNames: [], scope: "watched" } as const;
  return ["create", "patch"].flatMap((verb): RbacRule[] => [
    ...(namespaces.includes(undefined) ? [{ ...event, verb, reason: "reports Events" }] : []),
    ...(some.length === 0 ? [] : [{ ...event, verb, namespaces: some, reason: "reports Events" }]),
  ]);
}

/** Rules for reviewing the token and the access of a client that reads metrics. */
const REVIEWS: readonly RbacRule[] = [
  { group: "authentication.k8s.io", resource: "tokenreviews" },
  { group: "authorization.k8s.io", resource: "subjectaccessreviews" },
].map((of): RbacRule => ({
  ...of,
  verb: "create",
  resourceNames: [],
  scope: "cluster",
  reason: "authorizes requests for its metrics",
}));

function leaseRules({ name, namespace }: NonNullable<RbacOptions["lease"]>, reason: string): RbacRule[] {
  const lease = {
    group: "coordination.k8s.io",
    resource: "leases",
    scope: "own",
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    reason,
  } as const;
  // RBAC cannot limit "create" to a name, because the object does not exist yet.
  return [
    { ...lease, verb: "create", resourceNames: [] },
    { ...lease, verb: "get", resourceNames: [name] },
    { ...lease, verb: "patch", resourceNames: [name] },
  ];
}

/** Returns the rules of an operator that does not issue its webhook certificate itself. */
export function withoutCertificates(rules: readonly RbacRule[]): RbacRule[] {
  return rules.filter(({ purpose }) => purpose !== "webhook certificate");
}

/**
 * The rules are limited to names, because an operator that could read all Secrets, or change all
 * webhook configurations, would control the whole cluster. The admission policy also limits the
 * fields.
 */
function certificateRules({ operator, secret, targets }: NonNullable<RbacOptions["certificates"]>): RbacRule[] {
  const stored = {
    group: "",
    resource: "secrets",
    scope: "own",
    reason: "stores the webhook certificate",
  } as const;
  const { mutating, validating, definitions } = targets;
  const published = (group: string, resource: string, names: readonly string[]): RbacRule[] =>
    names.length === 0 ? [] : ["get", "patch"].map((verb): RbacRule => ({
      group,
      resource,
      verb,
      resourceNames: names,
      scope: "cluster",
      reason: "writes the CA bundle of its webhooks",
    }));
  const group = "admissionregistration.k8s.io";
  const rules: readonly RbacRule[] = [
    // The manifests contain the Secret without data, so there is no need to create it.
    { ...stored, verb: "get", resourceNames: [secret] },
    { ...stored, verb: "patch", resourceNames: [secret] },
    ...leaseRules({ name: secret }, "issues the webhook certificate in one replica at a time"),
    ...published(group, "mutatingwebhookconfigurations", mutating === undefined ? [] : [mutating]),
    ...published(group, "validatingwebhookconfigurations", validating === undefined ? [] : [validating]),
    ...published("apiextensions.k8s.io", "customresourcedefinitions", definitions),
    {
      ...POLICY_PERMISSION,
      resourceNames: [certificatePolicy(operator)],
      scope: "cluster",
      optional: true,
      reason: "subjects it to the admission policy that limits its writes; grants nothing",
    },
  ];
  return rules.map((rule): RbacRule => ({ ...rule, purpose: "webhook certificate" }));
}
