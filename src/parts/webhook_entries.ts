/** Webhooks as a cluster is told of them: entries of the configurations, without the address and the authority. */
import { shortName } from "../base/short_name.ts";
import { CONDITION_OF, fieldCondition, othersCondition } from "../resource/match_conditions.ts";
import type { LabelSelector } from "./selectors.ts";
import type { Webhook } from "./webhook.ts";

/** When a webhook is asked: before an object is validated, when it may be changed, or before it is stored. */
export type WebhookPhase = "mutate" | "validate";

/** What the API has of a webhook (`admissionregistration.k8s.io/v1`), but for `clientConfig`. */
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
  /** Of those that may change the object. */
  readonly reinvocationPolicy?: "Never" | "IfNeeded";
}

/** One entry of a configuration. */
export interface WebhookEntry {
  readonly phase: WebhookPhase;
  /** The part's key. */
  readonly part: string;
  /** Where it is served, such as `/validate/website-rules`. */
  readonly path: string;
  readonly fields: WebhookFields;
}

/** Where conversion between versions is served. */
export const CONVERSION_PATH = "/convert";

/**
 * Where a webhook is served.
 *
 * @param phase When it is asked.
 * @param part The part's key.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(webhookPath("validate", "websiteRules"), "/validate/website-rules");
 * ```
 */
export function webhookPath(phase: WebhookPhase, part: string): string {
  return `/${phase}/${labelOf(part)}`;
}

/**
 * The entries of the configurations, in the order of the parts.
 *
 * @param operator The operator's name.
 * @param parts The parts by their keys; what is no webhook is passed over.
 * @param namespace The operator's own namespace, which is left out unless a webhook says otherwise.
 * @param user As whom the operator writes; what it writes is asked about where nobody knows.
 */
export function webhookEntries(
  operator: string,
  parts: Readonly<Record<string, { readonly part: string }>>,
  namespace: string | undefined,
  user: string | undefined = serviceAccount(operator, namespace),
): WebhookEntry[] {
  return Object.entries(parts).flatMap(([part, value]) => {
    if (!isWebhook(value)) return [];
    const phases = (["mutate", "validate"] as const).filter((phase) => value[phase] !== undefined);
    return phases.map((phase): WebhookEntry => ({
      phase,
      part,
      path: webhookPath(phase, part),
      fields: fieldsOf(operator, part, value, phase, namespace, user),
    }));
  });
}

function serviceAccount(operator: string, namespace: string | undefined): string | undefined {
  return namespace === undefined ? undefined : `system:serviceaccount:${namespace}:${operator}`;
}

/** Whether a part is a webhook. */
export function isWebhook(part: { readonly part: string }): part is Webhook {
  return part.part === "webhook";
}

function fieldsOf(
  operator: string,
  part: string,
  webhook: Webhook,
  phase: WebhookPhase,
  namespace: string | undefined,
  user: string | undefined,
): WebhookFields {
  const { kind, subresource, scope, field, objectSelector, matchConditions } = webhook;
  // A webhook that is told of a deletion cannot change anything.
  const operations = webhook.operations.filter((operation) => phase === "validate" || operation !== "DELETE");
  const conditions = Object.entries(matchConditions).map(([name, expression]) => ({ name, expression }));
  if (field !== undefined) conditions.push({ name: CONDITION_OF.field, expression: fieldCondition(field) });
  if (webhook.ignoreOwnRequests && user !== undefined) {
    conditions.push({ name: CONDITION_OF.ignoreOwnRequests, expression: othersCondition(user) });
  }
  const namespaceSelector = withoutSystem(webhook, namespace);
  return {
    name: `${labelOf(part)}.${operator}.${domainOf(kind.group)}`,
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
    ...(phase === "mutate" ? { reinvocationPolicy: webhook.reinvocation } : {}),
  };
}

/** Objects in no namespace are asked about whatever the selector says; a namespace itself is in itself. */
function withoutSystem(
  { kind, allNamespaces, namespaceSelector }: Webhook,
  namespace: string | undefined,
): LabelSelector | undefined {
  const isInNone = !kind.namespaced && !(kind.group === "" && kind.plural === "namespaces");
  if (allNamespaces || isInNone) return namespaceSelector;
  const values = ["kube-system", ...(namespace === undefined || namespace === "kube-system" ? [] : [namespace])];
  return {
    ...namespaceSelector,
    matchExpressions: [
      ...namespaceSelector?.matchExpressions ?? [],
      { key: "kubernetes.io/metadata.name", operator: "NotIn", values },
    ],
  };
}

/** A key as a label of a domain name: it stands in names and in paths. */
function labelOf(part: string): string {
  const label = part.replace(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return shortName(label, 63);
}

/** Names have at least three labels: groups of Kubernetes itself are not ours to make names in. */
function domainOf(group: string): string {
  return !group.includes(".") || group.endsWith(".k8s.io") ? "op" : group;
}
