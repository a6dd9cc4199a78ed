/**
 * The controller of ClusterRoles that aggregate the rules of others by label
 * (`k8s.io/kubernetes/pkg/controller/clusterroleaggregation`).
 */
import { equal } from "../../base/json.ts";
import { RBAC } from "../access/authorizer.ts";
import type { PolicyRule } from "../access/policy_rule.ts";
import { encodeManaged } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { updateObject } from "../core/persist.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type LabelSelector, matchesSelector } from "../objects/label_selector.ts";
import { type ManagedFieldsEntry, type StoredObject, withMetadata } from "../objects/objects.ts";
import { applyConfig } from "../verbs/apply.ts";

const COLLECTION = `${RBAC}/clusterroles`;
const MANAGER = "clusterrole-aggregation-controller";

/**
 * Updates aggregated roles whenever a ClusterRole changes.
 *
 * @param core The server.
 */
export function aggregateRoles(core: Core): void {
  core.store.listen(({ collection }) => {
    if (collection === COLLECTION) core.background.add("aggregated roles", () => aggregate(core));
  });
}

function aggregate(core: Core): void {
  const kind = core.kinds.ofCollection(COLLECTION);
  if (kind === undefined) return;
  for (const role of core.store.list(COLLECTION)) {
    const selectors = selectorsOf(role);
    if (selectors === undefined) continue;
    const rules = aggregatedRules(core, role, selectors);
    if (equal(rules, role.rules ?? [])) continue;
    applyRules(core, kind, role.metadata.name, rules);
  }
}

/** Applies the rules with force, as the real controller does, even if another manager owns them. */
function applyRules(core: Core, kind: ServedKind, name: string, rules: readonly PolicyRule[]): void {
  const { apiVersion } = kind;
  const config = { apiVersion, kind: kind.kind, metadata: { name }, ...(rules.length > 0 && { rules }) };
  let owners: readonly ManagedFieldsEntry[] | undefined;
  const track = (next: StoredObject) => withMetadata(next, { managedFields: owners });
  updateObject(core, kind, { namespace: undefined, name, dryRun: false, track }, (old) => {
    const result = applyConfig(core, { kind, subresource: undefined }, old, config, { manager: MANAGER, force: true });
    owners = encodeManaged(result);
    return { ...result.object, rules: result.object.rules ?? null };
  });
}

function selectorsOf({ aggregationRule }: StoredObject): readonly LabelSelector[] | undefined {
  if (aggregationRule === undefined) return undefined;
  return (aggregationRule as { clusterRoleSelectors?: readonly LabelSelector[] }).clusterRoleSelectors ?? [];
}

/** Returns the distinct rules of all selected roles, in the order of selectors and names. */
function aggregatedRules(core: Core, role: StoredObject, selectors: readonly LabelSelector[]): PolicyRule[] {
  const rules: PolicyRule[] = [];
  for (const selector of selectors) {
    for (const other of core.store.list(COLLECTION)) {
      if (other.metadata.name === role.metadata.name || !matchesSelector(selector, other.metadata.labels)) continue;
      for (const rule of (other.rules ?? []) as readonly PolicyRule[]) {
        if (!rules.some((each) => equal(each, rule))) rules.push(rule);
      }
    }
  }
  return rules;
}
