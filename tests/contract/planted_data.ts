/** Faults that the contract must find, in different parts of the server. */
import type { PlantedFault } from "./planted.ts";
import { ADMISSION } from "./planted_admission.ts";

const APPLY: readonly PlantedFault[] = [
  {
    title: "an apply takes over fields without a conflict",
    file: "apiserver/apply/updater.ts",
    from: "if (!force && conflicts.length > 0)",
    to: "if (false)",
    foundBy: "apply: an apply of another manager's field is a conflict unless forced",
  },
  {
    title: "fields that a manager no longer applies remain",
    file: "apiserver/apply/updater.ts",
    from: "last === undefined || last.set.isEmpty ? merged",
    to: "true ? merged",
    foundBy: "apply: an apply removes fields that it no longer has",
  },
  {
    title: "a forced apply leaves the field with its former manager",
    file: "apiserver/apply/updater.ts",
    from: "set = set.difference(conflict).difference(removed);",
    to: "set = set.difference(removed);",
    foundBy: "apply: an update takes over fields",
  },
  {
    title: "items that only the existing list has come first",
    file: "apiserver/apply/merge.ts",
    from: "result.push(live[l]);",
    to: "result.unshift(live[l]);",
    foundBy: "applied shapes: the order of a list map follows the last apply",
  },
  {
    title: "a write of the object owns the status",
    file: "apiserver/apply/managed_fields.ts",
    from: `return hasStatus ? FieldSet.of(["f:status"]) : new FieldSet();`,
    to: "return new FieldSet();",
    foundBy: "apply migration: status is owned separately",
  },
  {
    title: "server-side apply conflicts with client-side apply of kubectl",
    file: "apiserver/verbs/apply.ts",
    from: "options.manager === KUBECTL\n",
    to: `options.manager === ""\n`,
    foundBy: "apply migration: from client-side apply with a changed value",
  },
];

const WATCH_AND_LIST: readonly PlantedFault[] = [
  {
    title: "a watch has no event for an object that stops matching",
    file: "apiserver/verbs/watch.ts",
    from: `return matched ? { type: "DELETED", object: atRevision(before, change.revision) } : undefined;`,
    to: "return undefined;",
    foundBy: "watch options: pods start and stop to match a field selector",
  },
  {
    title: "a watch does not mark the end of the initial events",
    file: "apiserver/verbs/watch.ts",
    from: `if (initialEvents !== null && isTrue(query.get("allowWatchBookmarks"))) {`,
    to: "if (false) {",
    foundBy: "watches: a streaming list ends with a marked bookmark",
  },
  {
    title: "the event of a deletion has the resourceVersion of the last change",
    file: "apiserver/objects/store.ts",
    from: "const object = withRevision(previous, revision);",
    to: "const object = previous;",
    foundBy: "watches: a watch from a resourceVersion shows later changes",
  },
  {
    title: "a page begins with the last item of the previous page",
    file: "apiserver/verbs/read.ts",
    from: "> from.after",
    to: ">= from.after",
    foundBy: "lists: a list in pages",
  },
  {
    title: "a list at an exact resourceVersion has the newest objects",
    file: "apiserver/verbs/read.ts",
    from: `if (match === "Exact") return revision;`,
    to: "",
    foundBy: "pages: resourceVersion of a list",
  },
  {
    title: "an object without the label is not selected by notin",
    file: "base/label_selector.ts",
    from: "return value === undefined || !values.includes(value);",
    to: "return value !== undefined && !values.includes(value);",
    foundBy: "lists: a label selector",
  },
];

const VALIDATION: readonly PlantedFault[] = [
  {
    title: "an exclusive minimum allows the bound",
    file: "schema/number_errors.ts",
    from: "if (exclusiveMinimum ? order <= 0 : order < 0) {",
    to: "if (order < 0) {",
    foundBy: "validation: checks bounds of numbers",
  },
  {
    title: "unknown fields are stored",
    file: "apiserver/definitions/custom_rules.ts",
    from: "const { value, dropped } = pruneFields(schema, object);",
    to: "const { dropped } = pruneFields(schema, object), value = object;",
    foundBy: "field validation: unknown fields of a patch",
  },
  {
    title: "equal items of a set are allowed",
    file: "apiserver/definitions/custom_rules.ts",
    from: "errors.push(...newListErrors(schema, object, old));",
    to: "",
    foundBy: "validation: rejects duplicates in sets and list maps",
  },
  {
    title: "unchanged values are validated again",
    file: "apiserver/definitions/custom_rules.ts",
    from: "const correlation = old && new Correlation(schema, object, old);",
    to: "const correlation = undefined as Correlation | undefined;",
    foundBy: "rules: unchanged invalid values are allowed",
  },
  {
    title: "a transition rule is evaluated without an old value",
    file: "schema/rules/evaluate.ts",
    from: "if (compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf) continue;",
    to: "",
    foundBy: "rules: transition rules",
  },
  {
    title: "a name that is in use is accepted",
    file: "apiserver/definitions/crd.ts",
    from: "if (wanted && wanted !== before[key] && used.has(wanted))",
    to: "if (wanted && wanted !== before[key] && false)",
    foundBy: "definitions: a second definition of a kind is not accepted",
  },
  {
    title: "a new default does not appear in existing objects",
    file: "apiserver/definitions/custom_rules.ts",
    from: "...applyDefaults(schema, read) as StoredObject, apiVersion",
    to: "...read as StoredObject, apiVersion",
    foundBy: "changed definitions: objects reflect changes of their definition",
  },
];

const PATCHES: readonly PlantedFault[] = [
  {
    title: "the test of a JSON patch always holds",
    file: "apiserver/wire/json_patch.ts",
    from: "if (equal(found, value)) return;",
    to: "return;",
    foundBy: "JSON patches: a failing test discards the patch",
  },
  {
    title: "a slash in a key is not unescaped",
    file: "apiserver/wire/json_patch.ts",
    from: `key.replaceAll("~1", "/").replaceAll("~0", "~")`,
    to: `key.replaceAll("~0", "~")`,
    foundBy: "JSON patches: keys with slashes and tildes",
  },
  {
    title: "null in a merge patch is kept",
    file: "base/merge_patch.ts",
    from: "if (value === null) result.delete(key);",
    to: "if (value === null) result.set(key, null);",
    foundBy: "merge patches: labels and annotations",
  },
  {
    title: "a strategic patch replaces lists",
    file: "apiserver/verbs/strategic_patch.ts",
    from: `return schema["x-kubernetes-patch-strategy"]?.split(",").includes("merge") ?? false;`,
    to: "return false;",
    foundBy: "strategic patches: env by name",
  },
  {
    title: "a strategic patch ignores the requested order",
    file: "apiserver/verbs/strategic_patch.ts",
    from: "sortByOrder(mergeKey(propertyOf(schema, name)), list, order)",
    to: "list",
    foundBy: "strategic patches: an order of containers",
  },
];

const LIFECYCLE: readonly PlantedFault[] = [
  {
    title: "zero values are stored",
    file: "apiserver/objects/decode.ts",
    from: "return zeroFields(schema.definition).has(key);",
    to: "return false;",
    foundBy: "zeros: zero values in a workload",
  },
  {
    title: "an eviction that a budget does not allow succeeds",
    file: "apiserver/subresources/eviction.ts",
    from: "if (disruptionsAllowed <= 0) {",
    to: "if (disruptionsAllowed < 0) {",
    foundBy: "pods: a budget allows one eviction",
  },
  {
    title: "the old version of an autoscaler loses its behavior",
    file: "apiserver/builtin/autoscaler_rules.ts",
    from: "[BEHAVIOR]: behavior === undefined ? undefined : goJson(behaviorToV1(fields(behavior))),",
    to: "",
    foundBy: "autoscalers: created in the new version, with annotations for the old one",
  },
  {
    title: "a dry run is stored",
    file: "apiserver/core/persist.ts",
    from: "if (request.dryRun) return { object: kind.rules.read(toStore), warnings };",
    to: "",
    foundBy: "dry run: a create with dryRun",
  },
  {
    title: "an object with finalizers is deleted",
    file: "apiserver/core/remove.ts",
    from: "if (finalizers.length === 0 && !hasCleanupController(kind)) {",
    to: "if (!hasCleanupController(kind)) {",
    foundBy: "deletion: an object with a finalizer exists until it is removed",
  },
  {
    title: "an owner that was recreated counts as the same owner",
    file: "apiserver/controllers/garbage.ts",
    from: "if (owner === undefined || owner.metadata.uid !== uid)",
    to: "if (owner === undefined)",
    foundBy: "garbage collection: an object whose owner has another uid is deleted",
  },
  {
    title: "orphans keep the reference to their deleted owner",
    file: "apiserver/controllers/garbage.ts",
    from: "this.#setOwners(dependent, owners.filter((owner) => owner.uid !== uid));",
    to: "this.#setOwners(dependent, owners);",
    foundBy: "garbage collection: an orphaned object stays without an owner reference",
  },
  {
    title: "a write of status increases the generation",
    file: "apiserver/definitions/custom_rules.ts",
    from: `if (subresource === "status") return statusUpdate(object, old);`,
    to: "",
    foundBy: "status: a write of status does not change metadata",
  },
  {
    title: "a terminating namespace accepts new objects",
    file: "apiserver/core/persist.ts",
    from: "if (object.metadata.deletionTimestamp === undefined) return;",
    to: "return;",
    foundBy: "namespaces: a create in a terminating namespace is rejected",
  },
  {
    title: "a scheduled pod is deleted at once",
    file: "apiserver/core/grace.ts",
    from: `if (!nodeName || phase === "Succeeded" || phase === "Failed") return 0;`,
    to: "return 0;",
    foundBy: "graceful deletion: the grace period of the pod",
  },
];

const RBAC: readonly PlantedFault[] = [
  {
    title: "resourceNames of a rule are ignored",
    file: "apiserver/access/policy_rule.ts",
    from: "(names.length === 0 || names.includes(name)) &&",
    to: "",
    foundBy: "access: a rule with a name allows that object only",
  },
  {
    title: "a rule for a resource allows its subresources",
    file: "apiserver/access/policy_rule.ts",
    from: `each === "*" || each === combined ||`,
    to: `each === "*" || each === resource ||`,
    foundBy: "access: a rule for a resource does not allow its subresources",
  },
  {
    title: "users can grant permissions that they do not have",
    file: "apiserver/access/escalation.ts",
    from: "if (missing.length > 0) throw rejection",
    to: "if (false) throw rejection",
    foundBy: "grants: a role can only contain permissions that its author has",
  },
  {
    title: "roles are not aggregated by their labels",
    file: "apiserver/controllers/role_aggregation.ts",
    from: "if (equal(rules, role.rules ?? [])) continue;",
    to: "continue;",
    foundBy: "access: an aggregated role follows the roles it selects",
  },
  {
    title: "impersonation needs no permission",
    file: "apiserver/access/impersonation.ts",
    from: "return allowed ? undefined : accessDenied(this.#requester, attributes, reason);",
    to: "return undefined;",
    foundBy: "impersonation: impersonation needs a permission",
  },
];

const SHOWING: readonly PlantedFault[] = [
  {
    title: "rows contain whole objects",
    file: "apiserver/tables/table.ts",
    from: `: options.includeObject === "Object"`,
    to: ": true",
    foundBy: "tables: deployments",
  },
  {
    title: "columns have no priority",
    file: "apiserver/tables/table.ts",
    from: `description = "", priority = 0 }) => ({`,
    to: `description = "" }, priority = 0) => ({`,
    foundBy: "tables: pods that run, wait and end",
  },
  {
    title: "short names are missing in discovery",
    file: "apiserver/discovery/discovery.ts",
    from: `...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
        ...(kind.categories.length > 0 && { categories: kind.categories }),
        ...(kind.verbs`,
    to: "...(kind.verbs",
    foundBy: "discovery: lists the resources of the core group",
  },
  {
    title: "the oldest version is preferred",
    file: "base/version_order.ts",
    from: "return stage(left) - stage(right) || Number(right[1]) - Number(left[1]) ||",
    to: "return stage(right) - stage(left) || Number(left[1]) - Number(right[1]) ||",
    foundBy: "discovery: names all groups",
  },
  {
    title: "schemas in OpenAPI have no group, version and kind",
    file: "apiserver/discovery/openapi.ts",
    from: `: { ...schema, "x-kubernetes-group-version-kind": all }`,
    to: ": schema",
    foundBy: "openapi: schemas of built-in kinds",
  },
];

const BAD_INPUT: readonly PlantedFault[] = [
  {
    title: "duplicate keys cause no warning",
    file: "apiserver/wire/body.ts",
    from: ": duplicateKeys(text).map(",
    to: ": ([] as string[]).map(",
    foundBy: "field validation: duplicate keys",
  },
  {
    title: "an object of another kind is accepted",
    file: "apiserver/objects/decode_body.ts",
    from: `if (name !== undefined && name !== "" && name !== kind.kind) {`,
    to: "if (false) {",
    foundBy: "hostile input: an object of a similar kind",
  },
  {
    title: "a body of any type is read as JSON",
    file: "apiserver/wire/body.ts",
    from: `if (type !== "application/json") {`,
    to: "if (false) {",
    foundBy: "bad input: an unknown content type",
  },
  {
    title: "an unknown Accept header gets a JSON response",
    file: "apiserver/http.ts",
    from: `if (kind.isBuiltin && !hasFormat(accept)) throw notAcceptable(true, verb === "list" || verb === "watch");
  if (form === undefined) throw notAcceptable(false, false);`,
    to: "if (form === undefined) return jsonResponse({}, 200);",
    foundBy: "bad input: an unknown Accept header",
  },
];

/** All planted faults. */
export const PLANTED: readonly PlantedFault[] = [
  ...APPLY,
  ...WATCH_AND_LIST,
  ...VALIDATION,
  ...PATCHES,
  ...LIFECYCLE,
  ...RBAC,
  ...ADMISSION,
  ...SHOWING,
  ...BAD_INPUT,
];
