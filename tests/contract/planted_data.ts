/** Faults that the contract must find: some of each subject, each in another part of the server. */
import type { PlantedFault } from "./planted.ts";
import { ADMISSION } from "./planted_admission.ts";

const APPLY: readonly PlantedFault[] = [
  {
    title: "an apply takes fields from others without a word",
    file: "apiserver/apply/updater.ts",
    from: "if (!force && conflicts.length > 0)",
    to: "if (false)",
    foundBy: "apply: apply of another's field is a conflict, unless forced",
  },
  {
    title: "what a manager no longer applies stays",
    file: "apiserver/apply/updater.ts",
    from: "last === undefined || last.set.isEmpty ? merged",
    to: "true ? merged",
    foundBy: "apply: apply removes what it no longer writes",
  },
  {
    title: "who loses a field by force still owns it",
    file: "apiserver/apply/updater.ts",
    from: "set = set.difference(conflict).difference(removed);",
    to: "set = set.difference(removed);",
    foundBy: "apply: an update takes fields over",
  },
  {
    title: "items that only the live list has come first",
    file: "apiserver/apply/merge.ts",
    from: "result.push(live[l]);",
    to: "result.unshift(live[l]);",
    foundBy: "applied shapes: the order of a list map follows who applies",
  },
  {
    title: "a write to the whole owns the status",
    file: "apiserver/apply/managed_fields.ts",
    from: `return hasStatus ? FieldSet.of(["f:status"]) : new FieldSet();`,
    to: "return new FieldSet();",
    foundBy: "applied besides: status is owned apart from the rest",
  },
  {
    title: "what kubectl applied on the client's side conflicts with its apply on the server's",
    file: "apiserver/verbs/apply.ts",
    from: "options.manager === KUBECTL\n",
    to: `options.manager === ""\n`,
    foundBy: "applied besides: from client-side apply with a changed value",
  },
];

const WATCH_AND_LIST: readonly PlantedFault[] = [
  {
    title: "a watch is not told of what leaves its view",
    file: "apiserver/verbs/watch.ts",
    from: `return matched ? { type: "DELETED", object: atRevision(before, change.revision) } : undefined;`,
    to: "return undefined;",
    foundBy: "views: pods come into view and leave it by their phase",
  },
  {
    title: "a watch does not say where the initial events end",
    file: "apiserver/verbs/watch.ts",
    from: `if (initialEvents !== null && isTrue(query.get("allowWatchBookmarks"))) {`,
    to: "if (false) {",
    foundBy: "watches: a streaming list ends with a marked bookmark",
  },
  {
    title: "what is deleted comes with the revision of its last change",
    file: "apiserver/objects/store.ts",
    from: "const object = withRevision(previous, revision);",
    to: "const object = previous;",
    foundBy: "watches: a watch from a version shows what came after it",
  },
  {
    title: "a page begins with the last item of the one before",
    file: "apiserver/verbs/read.ts",
    from: "> from.after",
    to: ">= from.after",
    foundBy: "lists: a list in pages",
  },
  {
    title: "a list of an exact version is of the newest",
    file: "apiserver/verbs/read.ts",
    from: `if (match === "Exact") return revision;`,
    to: "",
    foundBy: "pages: versions of a list",
  },
  {
    title: "an object without the label is not selected by notin",
    file: "base/label_selector.ts",
    from: "return value === undefined || !values.includes(value);",
    to: "return value !== undefined && !values.includes(value);",
    foundBy: "lists: labels select",
  },
];

const VALIDATION: readonly PlantedFault[] = [
  {
    title: "an exclusive minimum takes the bound",
    file: "schema/number_faults.ts",
    from: "if (exclusiveMinimum ? order <= 0 : order < 0) {",
    to: "if (order < 0) {",
    foundBy: "validation: holds bounds of numbers",
  },
  {
    title: "unknown fields are stored",
    file: "apiserver/definitions/custom_rules.ts",
    from: "const { value, dropped } = pruneFields(schema, object);",
    to: "const { dropped } = pruneFields(schema, object), value = object;",
    foundBy: "field validation: unknown fields of a patch",
  },
  {
    title: "equal items of a set are let pass",
    file: "apiserver/definitions/custom_rules.ts",
    from: "faults.push(...newListFaults(schema, object, old));",
    to: "",
    foundBy: "validation: refuses duplicates in sets and list maps",
  },
  {
    title: "what has not changed is checked anew",
    file: "apiserver/definitions/custom_rules.ts",
    from: "const correlation = old && new Correlation(schema, object, old);",
    to: "const correlation = undefined as Correlation | undefined;",
    foundBy: "rules: what was wrong before and does not change is let pass",
  },
  {
    title: "a transition rule is evaluated where nothing was before",
    file: "schema/rules/evaluate.ts",
    from: "if (compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf) continue;",
    to: "",
    foundBy: "rules: transition rules",
  },
  {
    title: "a name that is taken is accepted",
    file: "apiserver/definitions/crd.ts",
    from: "if (wanted && wanted !== before[key] && used.has(wanted))",
    to: "if (wanted && wanted !== before[key] && false)",
    foundBy: "definitions: a second definition of a kind is not accepted",
  },
  {
    title: "a new default is not shown in old objects",
    file: "apiserver/definitions/custom_rules.ts",
    from: "...applyDefaults(schema, read) as StoredObject, apiVersion",
    to: "...read as StoredObject, apiVersion",
    foundBy: "changed definitions: objects follow their definition",
  },
];

const PATCHES: readonly PlantedFault[] = [
  {
    title: "the test of a JSON patch always holds",
    file: "apiserver/wire/json_patch.ts",
    from: "if (equal(found, value)) return;",
    to: "return;",
    foundBy: "JSON patches: a test that fails takes all back",
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
    title: "the order that a strategic patch asks for is not made",
    file: "apiserver/verbs/strategic_patch.ts",
    from: "inOrder(mergeKey(propertyOf(schema, name)), list, order)",
    to: "list",
    foundBy: "strategic patches: an order of containers",
  },
];

const LIFECYCLE: readonly PlantedFault[] = [
  {
    title: "zeros that say nothing are kept",
    file: "apiserver/objects/decode.ts",
    from: "return zeroFields(schema.definition).has(key);",
    to: "return false;",
    foundBy: "zeros: in a workload",
  },
  {
    title: "an eviction that a budget does not allow is made",
    file: "apiserver/subresources/eviction.ts",
    from: "if (disruptionsAllowed <= 0) {",
    to: "if (disruptionsAllowed < 0) {",
    foundBy: "pods: a budget allows an eviction, and then no more",
  },
  {
    title: "the old version of an autoscaler loses its behaviour",
    file: "apiserver/builtin/autoscaler_rules.ts",
    from: "[BEHAVIOR]: behavior === undefined ? undefined : text(behaviorToOld(fields(behavior))),",
    to: "",
    foundBy: "autoscalers: made in the new version, what the old one lacks is in annotations",
  },
  {
    title: "a dry run is stored",
    file: "apiserver/core/persist.ts",
    from: "if (request.dryRun) return { object: kind.rules.read(toStore), warnings };",
    to: "",
    foundBy: "dry run: a create that is only tried",
  },
  {
    title: "an object goes while it has finalizers",
    file: "apiserver/core/remove.ts",
    from: "if (finalizers.length === 0 && !isHeld(kind)) {",
    to: "if (!isHeld(kind)) {",
    foundBy: "deletion: a finalizer holds an object until it is taken off",
  },
  {
    title: "an owner that was made anew counts as the one before",
    file: "apiserver/controllers/garbage.ts",
    from: "if (owner === undefined || owner.metadata.uid !== uid)",
    to: "if (owner === undefined)",
    foundBy: "garbage collection: what is owned by one of another uid goes",
  },
  {
    title: "orphans keep the reference to who is gone",
    file: "apiserver/controllers/garbage.ts",
    from: "this.#setOwners(dependent, owners.filter((owner) => owner.uid !== uid));",
    to: "this.#setOwners(dependent, owners);",
    foundBy: "garbage collection: what is orphaned stays and forgets its owner",
  },
  {
    title: "an object that is to be changed counts its generation for its status too",
    file: "apiserver/definitions/custom_rules.ts",
    from: `if (subresource === "status") return statusUpdate(object, old);`,
    to: "",
    foundBy: "status: a write of status leaves metadata",
  },
  {
    title: "a namespace that goes takes in new objects",
    file: "apiserver/core/persist.ts",
    from: "if (object.metadata.deletionTimestamp === undefined) return;",
    to: "return;",
    foundBy: "namespaces: nothing is made in a namespace that ends",
  },
  {
    title: "a pod on a node goes at once",
    file: "apiserver/core/grace.ts",
    from: `if (!nodeName || phase === "Succeeded" || phase === "Failed") return 0;`,
    to: "return 0;",
    foundBy: "graceful deletion: the time that the pod asks for",
  },
];

const RBAC: readonly PlantedFault[] = [
  {
    title: "names in a rule do not count",
    file: "apiserver/access/policy_rule.ts",
    from: "(names.length === 0 || names.includes(name)) &&",
    to: "",
    foundBy: "access: a name allows that object alone",
  },
  {
    title: "a right to a resource is one to its parts",
    file: "apiserver/access/policy_rule.ts",
    from: `each === "*" || each === combined ||`,
    to: `each === "*" || each === resource ||`,
    foundBy: "access: a resource does not allow its parts",
  },
  {
    title: "everybody grants what he does not have",
    file: "apiserver/access/escalation.ts",
    from: "if (missing.length > 0) throw rejection",
    to: "if (false) throw rejection",
    foundBy: "grants: a role holds only what its writer has",
  },
  {
    title: "roles are not gathered by their labels",
    file: "apiserver/controllers/role_aggregation.ts",
    from: "if (equal(rules, role.rules ?? [])) continue;",
    to: "continue;",
    foundBy: "access: what is aggregated follows its parts",
  },
  {
    title: "everybody may act as everybody",
    file: "apiserver/access/impersonation.ts",
    from: "return allowed ? undefined : accessDenied(this.#requester, attributes, reason);",
    to: "return undefined;",
    foundBy: "impersonation: nobody acts as another who may not",
  },
];

const SHOWING: readonly PlantedFault[] = [
  {
    title: "rows carry whole objects",
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
    title: "short names are not told of",
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
    title: "OpenAPI does not say which schema is whose",
    file: "apiserver/discovery/openapi.ts",
    from: `: { ...written, "x-kubernetes-group-version-kind": all }`,
    to: ": written",
    foundBy: "openapi: schemas of built-in kinds",
  },
];

const BAD_INPUT: readonly PlantedFault[] = [
  {
    title: "keys that are there twice are not told of",
    file: "apiserver/wire/body.ts",
    from: ": duplicateKeys(text).map(",
    to: ": ([] as string[]).map(",
    foundBy: "field validation: duplicate keys",
  },
  {
    title: "an object of another kind is taken for this one",
    file: "apiserver/objects/decode_body.ts",
    from: `if (name !== undefined && name !== "" && name !== kind.kind) {`,
    to: "if (false) {",
    foundBy: "hostile input: an object of a neighbour's kind",
  },
  {
    title: "a body of any type is read as JSON",
    file: "apiserver/wire/body.ts",
    from: `if (type !== "application/json") {`,
    to: "if (false) {",
    foundBy: "bad input: a content type nobody knows",
  },
  {
    title: "what is asked for in an unknown form comes as JSON",
    file: "apiserver/http.ts",
    from: `if (kind.isBuiltin && !namesFormat(accept)) throw notAcceptable(true, verb === "list" || verb === "watch");
  if (form === undefined) throw notAcceptable(false, false);`,
    to: "if (form === undefined) return jsonResponse({}, 200);",
    foundBy: "bad input: an answer in a form nobody knows",
  },
];

/** All of them. */
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
