/**
 * Selects the webhooks that match a request
 * (`k8s.io/apiserver/pkg/admission/plugin/webhook/predicates`).
 */
import type { Core } from "../core/core.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { matchesSelector } from "../objects/label_selector.ts";
import type { StoredObject } from "../objects/objects.ts";
import type { Webhook, WebhookRule } from "../webhooks/webhook.ts";
import { notFound } from "../wire/status_error.ts";

/** The parts of a request that webhooks match. */
export interface Subject {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: ServedKind;
  readonly subresource: string | undefined;
  /** Namespace; for a Namespace, the object's own name. */
  readonly namespace: string | undefined;
  readonly object: StoredObject | undefined;
  readonly old: StoredObject | undefined;
}

/**
 * Returns the kind in which a webhook receives the objects of a request; `undefined` if it does not
 * match.
 *
 * @throws {StatusError} If the webhook has a namespace selector and the namespace does not exist.
 */
export function kindFor(core: Core, webhook: Webhook, subject: Subject): ServedKind | undefined {
  if (!selectsObject(webhook, subject)) return undefined;
  const kind = matchingKind(core, webhook, subject);
  return kind !== undefined && selectsNamespace(core, webhook, subject) ? kind : undefined;
}

function selectsObject({ objectSelector = {} }: Webhook, { object, old }: Subject): boolean {
  if (isEmpty(objectSelector)) return true;
  // The options of a connection have no metadata, so no selector matches them.
  return [object, old].some((each) =>
    each?.metadata !== undefined && matchesSelector(objectSelector, each.metadata.labels)
  );
}

function isEmpty(selector: { readonly matchLabels?: object; readonly matchExpressions?: readonly unknown[] }): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
}

function selectsNamespace(core: Core, { namespaceSelector = {} }: Webhook, subject: Subject): boolean {
  const { kind, namespace, operation, object, subresource } = subject;
  const isNamespace = kind.collection === "/namespaces";
  if (isEmpty(namespaceSelector) || (namespace === undefined && !isNamespace)) return true;
  if (isNamespace && subresource === undefined && (operation === "CREATE" || operation === "UPDATE")) {
    return matchesSelector(namespaceSelector, object?.metadata.labels);
  }
  const found = core.store.get("/namespaces", keyOf(undefined, namespace ?? ""));
  if (found === undefined) throw notFound({ group: "", plural: "namespaces" }, namespace ?? "");
  return matchesSelector(namespaceSelector, found.metadata.labels);
}

/**
 * Returns the kind of the request if a rule matches it; with the match policy Equivalent, also an
 * equivalent kind that a rule matches.
 */
function matchingKind(core: Core, { rules = [], matchPolicy }: Webhook, subject: Subject): ServedKind | undefined {
  if (rules.some((rule) => matches(rule, subject.kind, subject))) return subject.kind;
  if (matchPolicy === "Exact") return undefined;
  const { kind, subresource } = subject;
  const others = core.kinds.all.filter((each) =>
    each !== kind && each.collection === kind.collection &&
    (subresource === undefined || each.subresources.some(({ name }) => name === subresource))
  );
  for (const rule of rules) {
    const found = others.find((other) => matches(rule, other, subject));
    if (found !== undefined) return found;
  }
  return undefined;
}

function matches(rule: WebhookRule, kind: ServedKind, { operation, subresource = "", namespace }: Subject): boolean {
  return inScope(rule, kind, namespace) && hasOrAll(rule.operations, operation) &&
    hasOrAll(rule.apiGroups, kind.group) &&
    hasOrAll(rule.apiVersions, kind.version) &&
    (rule.resources ?? []).some((text) => {
      const [resource = "", part = ""] = text.split(/\/(.*)/s);
      return (resource === "*" || resource === kind.plural) && (part === "*" || part === subresource);
    });
}

function inScope({ scope = "*" }: WebhookRule, kind: ServedKind, namespace: string | undefined): boolean {
  if (scope === "*") return true;
  const isClusterWide = kind.collection === "/namespaces" || namespace === undefined;
  return isClusterWide === (scope === "Cluster");
}

function hasOrAll(values: readonly string[] = [], wanted: string): boolean {
  return values.includes("*") || values.includes(wanted);
}
