/** Entries of webhook configurations, without the address and the CA bundle. */
import { shortName } from "../base/short_name.ts";
import { fieldCondition, otherUsersCondition, RESERVED_CONDITIONS } from "../resource/match_conditions.ts";
import { compile, type Parts } from "./part_types.ts";
import type { LabelSelector } from "./selectors.ts";
import type { Webhook } from "./webhook.ts";

/**
 * When a webhook is called: `mutate` before the object is validated, `validate` before it is
 * stored.
 */
export type WebhookPhase = "mutate" | "validate";

/** The fields of a webhook in `admissionregistration.k8s.io/v1`, without `clientConfig`. */
export interface WebhookFields {
  readonly name: string;
  readonly rules: readonly {
    readonly operations: readonly string[];
    readonly apiGroups: readonly string[];
    readonly apiVersions: readonly string[];
    readonly resources: readonly string[];
    readonly scope: string;
  }[];
  readonly failurePolicy: "Fail" | "Ignore";
  readonly matchPolicy: "Equivalent" | "Exact";
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly sideEffects: "None" | "NoneOnDryRun";
  readonly timeoutSeconds: number;
  readonly admissionReviewVersions: readonly ["v1"];
  /** Only for mutating webhooks. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** An entry of a webhook configuration. */
export interface WebhookEntry {
  readonly phase: WebhookPhase;
  /** The key of the part. */
  readonly part: string;
  /** The path of the webhook, such as `/validate/website-rules`. */
  readonly path: string;
  readonly fields: WebhookFields;
}

/** The path of the conversion webhook. */
export const CONVERSION_PATH = "/convert";

/**
 * Returns the path of a webhook.
 *
 * @param phase When the webhook is called.
 * @param part The key of the part.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(webhookPath("validate", "websiteRules"), "/validate/website-rules");
 * ```
 */
export function webhookPath(phase: WebhookPhase, part: string): string {
  return `/${phase}/${dnsLabel(part)}`;
}

/**
 * Returns the entries of the webhook configurations, in the order of the parts.
 *
 * @param operator The operator's name.
 * @param parts The operator's parts by key.
 * @param namespace The operator's own namespace, which is excluded unless a webhook has
 *   `allNamespaces`.
 * @param user The username of the operator. If it is unknown, `ignoreOwnRequests` has no effect.
 */
export function webhookEntries(
  operator: string,
  parts: Parts,
  namespace: string | undefined,
  user: string | undefined = serviceAccount(operator, namespace),
): WebhookEntry[] {
  return [...compile(parts).webhooks].flatMap(([part, webhook]) => {
    const phases = (["mutate", "validate"] as const).filter((phase) => webhook[phase] !== undefined);
    return phases.map((phase): WebhookEntry => ({
      phase,
      part,
      path: webhookPath(phase, part),
      fields: webhookFields(operator, part, webhook, phase, namespace, user),
    }));
  });
}

function serviceAccount(operator: string, namespace: string | undefined): string | undefined {
  return namespace === undefined ? undefined : `system:serviceaccount:${namespace}:${operator}`;
}

function webhookFields(
  operator: string,
  part: string,
  webhook: Webhook,
  phase: WebhookPhase,
  namespace: string | undefined,
  user: string | undefined,
): WebhookFields {
  const { kind, subresource, scope, field, objectSelector, matchConditions } = webhook;
  // A mutating webhook is not called for deletions, because it cannot change the object.
  const operations = webhook.operations.filter((operation) => phase === "validate" || operation !== "DELETE");
  const conditions = Object.entries(matchConditions).map(([name, expression]) => ({ name, expression }));
  if (field !== undefined) conditions.push({ name: RESERVED_CONDITIONS.field, expression: fieldCondition(field) });
  if (webhook.ignoreOwnRequests && user !== undefined) {
    conditions.push({ name: RESERVED_CONDITIONS.ignoreOwnRequests, expression: otherUsersCondition(user) });
  }
  const namespaceSelector = excludeSystemNamespaces(webhook, namespace);
  return {
    name: `${dnsLabel(part)}.${operator}.${webhookDomain(kind.group)}`,
    rules: [{
      operations,
      apiGroups: [kind.group],
      apiVersions: [kind.version],
      resources: [subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`],
      scope,
    }],
    failurePolicy: webhook.failurePolicy,
    matchPolicy: webhook.matchPolicy,
    ...(namespaceSelector === undefined ? {} : { namespaceSelector }),
    ...(objectSelector === undefined ? {} : { objectSelector }),
    ...(conditions.length === 0 ? {} : { matchConditions: conditions }),
    sideEffects: webhook.sideEffects,
    timeoutSeconds: webhook.timeout,
    admissionReviewVersions: ["v1"],
    ...(phase === "mutate" ? { reinvocationPolicy: webhook.reinvocationPolicy } : {}),
  };
}

/**
 * Returns a namespace selector that excludes the system namespaces. For a Namespace, the API server
 * compares the selector with the labels of the Namespace itself. It ignores the selector for other
 * cluster-scoped objects.
 */
function excludeSystemNamespaces(
  { kind, allNamespaces, namespaceSelector }: Webhook,
  namespace: string | undefined,
): LabelSelector | undefined {
  const hasNoNamespaceLabels = !kind.namespaced && !(kind.group === "" && kind.plural === "namespaces");
  if (allNamespaces || hasNoNamespaceLabels) return namespaceSelector;
  const values = ["kube-system", ...(namespace === undefined || namespace === "kube-system" ? [] : [namespace])];
  return {
    ...namespaceSelector,
    matchExpressions: [
      ...namespaceSelector?.matchExpressions ?? [],
      { key: "kubernetes.io/metadata.name", operator: "NotIn", values },
    ],
  };
}

/** Converts the key of a part to a label of a domain name, for names and paths. */
function dnsLabel(part: string): string {
  const label = part.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return shortName(label, 63);
}

/**
 * Returns the end of a webhook's name, which needs at least three labels. Groups of Kubernetes
 * itself are replaced by `op`.
 */
function webhookDomain(group: string): string {
  return !group.includes(".") || group.endsWith(".k8s.io") ? "op" : group;
}
