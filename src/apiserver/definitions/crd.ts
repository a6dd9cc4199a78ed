/**
 * Types and conditions of CustomResourceDefinitions, and the kinds that they define
 * (`k8s.io/apiextensions-apiserver`).
 */
import { equal } from "../../base/json.ts";
import { type JsonPath, parseJsonPath } from "../../base/json_path.ts";
import { compareVersions } from "../../base/version_order.ts";
import { goNumber } from "../../schema/go_text.ts";
import type { JsonSchema } from "../../schema/json_schema.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { type DeclaredScale, DEFINITIONS, type Rules, type ServedKind, type Subresource } from "../objects/kinds.ts";
import { type StoredObject, timestamp } from "../objects/objects.ts";
import { replicasErrors, replicasPath } from "../objects/replicas.ts";
import { customColumns, type DeclaredColumn } from "../tables/columns.ts";
import type { DeclaredConversion, WebhookConverter } from "../webhooks/conversion.ts";
import { customRules, type CustomVersion, ownershipSchema } from "./custom_rules.ts";
import { type StorableVersion, versionedRules } from "./versions.ts";

/** The names of a custom kind. */
export interface DefinitionNames {
  readonly kind: string;
  readonly plural: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A version of a definition. */
export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: { readonly status?: object; readonly scale?: DeclaredScale };
  readonly additionalPrinterColumns?: readonly DeclaredColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** `spec` of a definition. */
export interface DefinitionSpec {
  readonly group: string;
  readonly names: DefinitionNames;
  readonly scope: "Namespaced" | "Cluster";
  readonly versions: readonly DefinitionVersion[];
  readonly conversion?: DeclaredConversion;
  readonly preserveUnknownFields?: boolean;
}

interface DefinitionCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** `status` of a definition. */
export interface DefinitionStatus {
  readonly conditions: readonly DefinitionCondition[] | null;
  readonly acceptedNames: DefinitionNames;
  readonly storedVersions: readonly string[];
}

/** Returns the `spec` of a stored definition. */
export function specOf(definition: StoredObject): DefinitionSpec {
  return definition.spec as DefinitionSpec;
}

function statusOf(definition: StoredObject): DefinitionStatus {
  return definition.status as DefinitionStatus;
}

/**
 * Updates the status of a definition: accepts the names that no other definition uses, and
 * establishes the definition if there is no conflict.
 *
 * @param core The server.
 * @param key Key of the definition.
 */
export function updateDefinitionStatus(core: Core, key: string): void {
  const definition = core.store.get(DEFINITIONS, key);
  if (definition === undefined || definition.metadata.deletionTimestamp !== undefined) return;
  const now = timestamp(core.clock.now());
  const { accepted: acceptedNames, conflict } = reviewNames(core, definition);
  const accepted = conflict === undefined
    ? condition("NamesAccepted", "True", now, "NoConflicts", "no conflicts found")
    : condition("NamesAccepted", "False", now, conflict.reason, conflict.message);
  const wasEstablished = isEstablished(definition);
  const established = conflict === undefined || wasEstablished
    ? condition("Established", "True", now, "InitialNamesAccepted", "the initial names have been accepted")
    : condition("Established", "False", now, "NotAccepted", "not all names are accepted");
  const before = statusOf(definition);
  const status: DefinitionStatus = {
    conditions: [accepted, established].reduce(withCondition, before.conditions ?? []),
    acceptedNames,
    storedVersions: before.storedVersions,
  };
  if (equal(status, definition.status)) return;
  const kind = core.kinds.ofCollection(DEFINITIONS);
  const next = { ...definition, status };
  const tracked = kind === undefined
    ? next
    : trackUpdate(core, kind, definition, next, { manager: "kube-apiserver", subresource: "status" });
  core.store.put(DEFINITIONS, key, tracked as StoredObject);
}

function condition(
  type: string,
  status: string,
  lastTransitionTime: string,
  reason: string,
  message: string,
): DefinitionCondition {
  return { type, status, lastTransitionTime, reason, message };
}

/** Adds or replaces a condition. Its transition time changes only with its status. */
function withCondition(conditions: readonly DefinitionCondition[], next: DefinitionCondition): DefinitionCondition[] {
  const before = conditions.find(({ type }) => type === next.type);
  if (before === undefined) return [...conditions, next];
  const kept = before.status === next.status ? { ...next, lastTransitionTime: before.lastTransitionTime } : next;
  return conditions.map((each) => each === before ? kept : each);
}

/** Returns whether the kinds of a definition are served. */
function isEstablished(definition: StoredObject): boolean {
  return (statusOf(definition)?.conditions ?? []).some(({ type, status }) =>
    type === "Established" && status === "True"
  );
}

interface NamesReview {
  /** The accepted names. If one name is in use, the others are still accepted. */
  readonly accepted: DefinitionNames;
  readonly conflict?: { readonly reason: string; readonly message: string };
}

function reviewNames(core: Core, definition: StoredObject): NamesReview {
  const { group, names } = specOf(definition);
  const others = core.store.list(DEFINITIONS)
    .filter((other) => other.metadata.uid !== definition.metadata.uid && specOf(other).group === group)
    .map((other) => statusOf(other)?.acceptedNames ?? { plural: "", kind: "" });
  const resources = new Set(others.flatMap((each) => [each.plural, each.singular ?? "", ...each.shortNames ?? []]));
  const kinds = new Set(others.flatMap((each) => [each.kind, each.listKind ?? ""]));
  const before = statusOf(definition).acceptedNames;
  const accepted: Record<string, unknown> = { ...before };
  let conflict: NamesReview["conflict"];
  function review(key: "plural" | "singular" | "kind" | "listKind", used: ReadonlySet<string>, reason: string): void {
    const wanted = names[key];
    if (wanted && wanted !== before[key] && used.has(wanted)) conflict = { reason, message: inUseMessage(wanted) };
    else if (wanted) accepted[key] = wanted;
  }
  review("plural", resources, "PluralConflict");
  review("singular", resources, "SingularConflict");
  const conflicting = (names.shortNames ?? []).filter((name) =>
    !before.shortNames?.includes(name) && resources.has(name)
  );
  if (conflicting.length > 0) {
    conflict = { reason: "ShortNamesConflict", message: conflicting.map(inUseMessage).join(", ") };
  } else if (names.shortNames) accepted.shortNames = names.shortNames;
  review("kind", kinds, "KindConflict");
  review("listKind", kinds, "ListKindConflict");
  if (names.categories) accepted.categories = names.categories;
  return { accepted: accepted as unknown as DefinitionNames, ...(conflict && { conflict }) };
}

function inUseMessage(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/**
 * Returns the kinds that a definition defines: one for each served version, or an empty list before
 * the definition is established.
 *
 * @param definition The definition.
 * @param converterOf Returns the converter for the given conversion settings.
 */
export function kindsOf(
  definition: StoredObject,
  converterOf: (conversion: DeclaredConversion) => WebhookConverter,
): ServedKind[] {
  if (!isEstablished(definition)) return [];
  const spec = specOf(definition);
  const names = statusOf(definition).acceptedNames;
  const versions = [...spec.versions].sort((a, b) => compareVersions(a.name, b.name));
  const stored: StorableVersion[] = versions.map((version) => {
    const custom = customVersion(spec, names, version);
    return {
      ...custom,
      rules: withScale(customRules(custom), version.subresources?.scale),
      isStorage: version.storage,
      isServed: version.served,
    };
  });
  const strategy = spec.conversion?.strategy ?? "None";
  const converter = spec.conversion === undefined || strategy === "None" ? undefined : converterOf(spec.conversion);
  const replicasPaths = new Map(versions.map(({ name, subresources }) => {
    const scale = subresources?.scale;
    return [`${spec.group}/${name}`, scale === undefined ? undefined : replicasPath(scale)] as const;
  }));
  return versions.filter(({ served }) => served)
    .map((version) => {
      const rules = versionedRules(`${spec.group}/${version.name}`, stored, strategy, converter);
      return { ...kindOf(spec, names, version, rules), replicasPaths };
    });
}

/** Adds the validation of replicas to the rules of a version with a scale. */
function withScale(rules: Rules, scale: DeclaredScale | undefined): Rules {
  if (scale === undefined) return rules;
  return {
    ...rules,
    validate: (object, old, subresource) => [
      ...rules.validate(object, old, subresource),
      ...replicasErrors(scale, object, subresource),
    ],
  };
}

function customVersion(
  { group, scope }: DefinitionSpec,
  names: DefinitionNames,
  version: DefinitionVersion,
): CustomVersion {
  return {
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    namespaced: scope === "Namespaced",
    schema: version.schema?.openAPIV3Schema ?? {},
    hasStatus: version.subresources?.status !== undefined,
  };
}

function kindOf(spec: DefinitionSpec, names: DefinitionNames, version: DefinitionVersion, rules: Rules): ServedKind {
  const { group, scope } = spec;
  return {
    group,
    version: version.name,
    apiVersion: `${group}/${version.name}`,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === "Namespaced",
    verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
    subresources: subresourcesOf(group, names, version),
    collection: `${group}/${names.plural}`,
    isBuiltin: false,
    storageVersion: spec.versions.find(({ storage }) => storage)?.name ?? version.name,
    schema: ownershipSchema(version.schema?.openAPIV3Schema ?? {}),
    rules,
    columns: customColumns(version.additionalPrinterColumns ?? []),
    ...(version.selectableFields && { selectableFields: fieldReaders(version.selectableFields) }),
    ...(version.subresources?.scale && { scale: version.subresources.scale }),
    ...(version.deprecated && { deprecation: deprecationOf(spec, version) }),
  };
}

/** Returns the warning of a deprecated version: its own, or one that names the newest version. */
function deprecationOf({ group, names, versions }: DefinitionSpec, version: DefinitionVersion): string {
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const [newest] = versions
    .filter((each) => each.served && !each.deprecated && compareVersions(each.name, version.name) < 0)
    .sort((a, b) => compareVersions(a.name, b.name));
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  return newest === undefined ? text : `${text}; use ${group}/${newest.name} ${names.kind}`;
}

function subresourcesOf(
  group: string,
  names: DefinitionNames,
  { name, subresources }: DefinitionVersion,
): Subresource[] {
  const verbs = ["get", "patch", "update"];
  const parts: Subresource[] = [];
  if (subresources?.status !== undefined) parts.push({ name: "status", group, version: name, kind: names.kind, verbs });
  if (subresources?.scale !== undefined) {
    parts.push({ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs });
  }
  return parts;
}

function fieldReaders(
  fields: readonly { readonly jsonPath: string }[],
): ReadonlyMap<string, (object: StoredObject) => string> {
  return new Map(fields.map(({ jsonPath }) => {
    const path = parseJsonPath(jsonPath);
    return [jsonPath.replace(/^\./, ""), (object: StoredObject) => selectorValue(path, object)];
  }));
}

/** Formats a value for comparison with a field selector; an empty string if there is none. */
function selectorValue(path: JsonPath, object: StoredObject): string {
  const value = path.find(object)[0]?.[0];
  if (value === undefined || value === null) return "";
  return typeof value === "number" ? goNumber(value) : String(value);
}
