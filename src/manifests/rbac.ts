/** The rights of an operator in a cluster: a line each verb on each resource, as the runtime sends it, and which declaration asks for it. */
import { certificatePolicy, type CertificateWrites, POLICY_RIGHT } from "./certificate_policy.ts";
import type { Controller, Part } from "../parts/controller.ts";
import { controllersOf, webhooksOf } from "../parts/part_list.ts";
import { controllerRbacRules, type PartRbacRule, watchedNamespaces, webhookRbacRules } from "../parts/rbac.ts";

/**
 * Where a right is needed: in the namespaces that the operator looks at, in the whole cluster (kinds that are cluster-wide), or in the namespace that
 * the operator itself is in.
 */
export type RbacScope = "watched" | "cluster" | "own";

/** One right: one verb on one resource, and why. */
export interface RbacRule {
  /** API group; empty for the core group. */
  readonly group: string;
  /** The plural name, with a subresource behind a slash where there is one: `websites`, `websites/status`. */
  readonly resource: string;
  /** In RBAC's words: `list`, `watch`, `patch`. */
  readonly verb: string;
  /** The only objects that it is about, by name; empty for all. */
  readonly names: readonly string[];
  /** Where it is needed, which settles whether a Role or a ClusterRole gives it. */
  readonly scope: RbacScope;
  /** The only namespaces where it is needed, whatever the operator looks at and is in: a watch or the election names them. */
  readonly namespaces?: readonly string[];
  /** Only some clusters and some objects ask for it: tests need not. */
  readonly seldom?: true;
  /** Only calls of the part's own code need it, perhaps in a single namespace; the part runs without it. */
  readonly live?: true;
  /** The key of the part that declares it; absent where the operator itself needs it. */
  readonly part?: string;
  /** What it is for, as a clause: `watches its own kind Website`. */
  readonly reason: string;
}

/** What the rights depend on, beside the parts. */
export interface RbacOptions {
  /** The Lease by which its processes agree on the one that works; absent where there is no election. */
  readonly lease?: { readonly name: string; readonly namespace?: string | undefined } | undefined;
  /** What it writes for the certificate of its webhooks, and its name; absent if it does not issue that itself. */
  readonly certificates?: CertificateWrites & { readonly operator: string } | undefined;
  /** Whether its runs report Kubernetes Events. @default {false} */
  readonly events?: boolean;
  /** Whether it asks the API server who may read its metrics. @default {false} */
  readonly guardsMetrics?: boolean;
}

/**
 * The rights of an operator: what its runtime really sends, and nothing else.
 *
 * @param parts The operator's parts, by key.
 * @param options What they depend on beside.
 * @returns Each right once for each part that needs it, in the order of the parts.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(rbacRulesOf({}, { lease: { name: "shop" } }).map(({ verb, resource }) => `${verb} ${resource}`), [
 *   "create leases",
 *   "get leases",
 *   "patch leases",
 * ]);
 * ```
 */
export function rbacRulesOf(parts: Readonly<Record<string, Part>>, options: RbacOptions = {}): RbacRule[] {
  const { lease, certificates, events = false, guardsMetrics = false } = options;
  return [
    ...controllersOf(parts).flatMap(([key, part]) => controllerRbacRules(part).map((right) => rightOf(key, right))),
    ...webhooksOf(parts).flatMap(([key, part]) => webhookRbacRules(part).map((right) => rightOf(key, right))),
    ...(events ? eventRights(controllersOf(parts).map(([, part]) => part)) : []),
    ...(lease === undefined ? [] : leaseRights(lease, "elects its leader")),
    ...(certificates === undefined ? [] : certificateRights(certificates)),
    ...(guardsMetrics ? REVIEWS : []),
  ];
}

function rightOf(part: string, right: PartRbacRule): RbacRule {
  const { group, resource, verb, namespaced, names = [], namespaces, need, reason } = right;
  const scope = namespaced ? "watched" : "cluster";
  const some = namespaces === undefined ? {} : { namespaces };
  const needed = need === "always" ? {} : { [need]: true as const };
  return { group, resource, verb, names, scope, ...some, ...needed, part, reason };
}

/** Events are where their objects are; those about what is in no namespace are in `default`. One that says the same again is patched. */
function eventRights(parts: readonly Controller[]): RbacRule[] {
  const places = parts.map((part) => part.kind.namespaced ? watchedNamespaces(part, part.kind) : ["default"]);
  const some = [...new Set(places.flatMap((place) => place ?? []))];
  const event = { group: "events.k8s.io", resource: "events", names: [], scope: "watched" } as const;
  return ["create", "patch"].flatMap((verb): RbacRule[] => [
    ...(places.includes(undefined) ? [{ ...event, verb, reason: "reports Events" }] : []),
    ...(some.length === 0 ? [] : [{ ...event, verb, namespaces: some, reason: "reports Events" }]),
  ]);
}

/** Whose token a scraper shows, and whether that one may read metrics. */
const REVIEWS: readonly RbacRule[] = [
  { group: "authentication.k8s.io", resource: "tokenreviews" },
  { group: "authorization.k8s.io", resource: "subjectaccessreviews" },
].map((of): RbacRule => ({
  ...of,
  verb: "create",
  names: [],
  scope: "cluster",
  reason: "asks who may read its metrics",
}));

function leaseRights({ name, namespace }: NonNullable<RbacOptions["lease"]>, reason: string): RbacRule[] {
  const lease = {
    group: "coordination.k8s.io",
    resource: "leases",
    scope: "own",
    ...(namespace === undefined ? {} : { namespaces: [namespace] }),
    reason,
  } as const;
  // A name that is not there yet cannot be what a right to create is bound to.
  return [
    { ...lease, verb: "create", names: [] },
    { ...lease, verb: "get", names: [name] },
    { ...lease, verb: "patch", names: [name] },
  ];
}

const CERTIFICATE_REASONS = [
  "keeps the certificate of its webhooks",
  "keeps the certificate of its webhooks, one replica at a time",
  "tells the API server which authority its webhooks are known by",
  "is limited by the admission policy of this name to the certificate's fields; permits nothing",
] as const;

/** The rights of an operator that does not keep the certificate of its webhooks itself. */
export function withoutCertificates(rights: readonly RbacRule[]): RbacRule[] {
  return rights.filter(({ part, reason }) =>
    part !== undefined || !(CERTIFICATE_REASONS as readonly string[]).includes(reason)
  );
}

/** By name, since an operator that may read all Secrets, or change all webhooks, may do anything. The policy limits the fields as well. */
function certificateRights({ operator, secret, targets }: NonNullable<RbacOptions["certificates"]>): RbacRule[] {
  const kept = {
    group: "",
    resource: "secrets",
    scope: "own",
    reason: "keeps the certificate of its webhooks",
  } as const;
  const { mutating, validating, definitions } = targets;
  const told = (group: string, resource: string, names: readonly string[]): RbacRule[] =>
    names.length === 0 ? [] : ["get", "patch"].map((verb): RbacRule => ({
      group,
      resource,
      verb,
      names,
      scope: "cluster",
      reason: CERTIFICATE_REASONS[2],
    }));
  return [
    // The manifests have it, empty.
    { ...kept, verb: "get", names: [secret] },
    { ...kept, verb: "patch", names: [secret] },
    ...leaseRights({ name: secret }, CERTIFICATE_REASONS[1]),
    ...told("admissionregistration.k8s.io", "mutatingwebhookconfigurations", mutating === undefined ? [] : [mutating]),
    ...told(
      "admissionregistration.k8s.io",
      "validatingwebhookconfigurations",
      validating === undefined ? [] : [validating],
    ),
    ...told("apiextensions.k8s.io", "customresourcedefinitions", definitions),
    {
      ...POLICY_RIGHT,
      names: [certificatePolicy(operator)],
      scope: "cluster",
      seldom: true,
      reason: CERTIFICATE_REASONS[3],
    },
  ];
}
