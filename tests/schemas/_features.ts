/**
 * The features of kinds, and how to detect them: in the definition, and in the source text if the
 * definition does not show the notation.
 */
import { isObject } from "../../src/base/json.ts";
import type { DefinitionVersion } from "../../src/resource/mod.ts";
import { definitionWarnings } from "../../src/resource/warnings.ts";
import type { JsonSchema, ValidationRule } from "../../src/schema/mod.ts";
import type { ExampleKind } from "./kinds/mod.ts";

/** A feature of kinds. */
export interface Feature {
  readonly about: string;
  readonly name: string;
  isIn(kind: ExampleKind): boolean;
}

/** A node of a kind's schemas. */
interface Found {
  readonly node: JsonSchema;
  readonly place: "root" | "spec" | "status" | "property" | "item" | "value";
  readonly isRequired: boolean;
}

function* nodesOf(node: JsonSchema, place: Found["place"], isRequired = true): Generator<Found> {
  yield { node, place, isRequired };
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    const next = place === "root" && (name === "spec" || name === "status") ? name : "property";
    yield* nodesOf(property, next, node.required?.includes(name) ?? false);
  }
  if (node.items) yield* nodesOf(node.items, "item");
  if (isObject(node.additionalProperties)) yield* nodesOf(node.additionalProperties, "value");
}

function nodes({ crd }: ExampleKind): Found[] {
  return crd.spec.versions.flatMap(({ schema }) => [...nodesOf(schema.openAPIV3Schema, "root")]);
}

function rules(kind: ExampleKind): ValidationRule[] {
  return nodes(kind).flatMap(({ node }) => node["x-kubernetes-validations"] ?? []);
}

type Test = (found: Found) => boolean | undefined;

/**
 * Detects a feature by a node of the schema and, if the notation matters, by the source text too.
 */
function node(test: Test, written?: RegExp): Feature["isIn"] {
  return (kind) => nodes(kind).some((found) => test(found) ?? false) && (written?.test(kind.source) ?? true);
}

function rule(test: (rule: ValidationRule) => unknown): Feature["isIn"] {
  return (kind) => rules(kind).some((each) => Boolean(test(each)));
}

function version(test: (version: DefinitionVersion) => unknown): Feature["isIn"] {
  return ({ crd }) => crd.spec.versions.some((each) => Boolean(test(each)));
}

function column(test: (column: NonNullable<DefinitionVersion["additionalPrinterColumns"]>[number]) => unknown) {
  return version(({ additionalPrinterColumns = [] }) => additionalPrinterColumns.some((each) => test(each)));
}

function rootHas(test: (root: JsonSchema) => unknown): Feature["isIn"] {
  return version(({ schema }) => test(schema.openAPIV3Schema));
}

function definition(test: (crd: ExampleKind["crd"]) => unknown): Feature["isIn"] {
  return ({ crd }) => Boolean(test(crd));
}

function has(keyword: keyof JsonSchema, types: string | undefined = undefined): Feature["isIn"] {
  return node(({ node }) => node[keyword] !== undefined && (types === undefined || types === node.type));
}

function list(type: "atomic" | "set" | "map"): Feature["isIn"] {
  return node(({ node }) => node["x-kubernetes-list-type"] === type, new RegExp(`listType: "${type}"`));
}

function ruleAt(test: Test): Feature["isIn"] {
  return node((found) => found.node["x-kubernetes-validations"] !== undefined && test(found));
}

const text = (pattern: RegExp): Feature["isIn"] => ({ source }) => pattern.test(source);

/** Detects a feature by an import from a module of Kubernetes' types. */
function imports(name: string, from = "@op/sdk/schemas"): Feature["isIn"] {
  return text(new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "${from}"`));
}

const both = (...tests: readonly Feature["isIn"][]): Feature["isIn"] => (kind) => tests.every((test) => test(kind));
const described = ({ description = "" }: JsonSchema) => description;

const SCHEMAS: Readonly<Record<string, Feature["isIn"]>> = {
  "type as read (Infer)": text(/Infer<typeof/),
  "type as written (Input)": text(/Input<typeof/),
  "string: format": has("format", "string"),
  "string: pattern": has("pattern", "string"),
  "string: minLength": has("minLength", "string"),
  "string: maxLength": has("maxLength", "string"),
  integer: node(({ node }) => node.type === "integer", /s\.integer\(/),
  "integer: int32": node(({ node }) => node.type === "integer" && node.format === "int32", /format: "int32"/),
  "integer: int64": node(({ node }) => node.type === "integer" && node.format === "int64", /format: "int64"/),
  number: node(({ node }) => node.type === "number" && node.format === "double", /s\.number\(/),
  minimum: has("minimum"),
  maximum: has("maximum"),
  exclusiveMinimum: has("exclusiveMinimum"),
  exclusiveMaximum: has("exclusiveMaximum"),
  multipleOf: has("multipleOf"),
  boolean: node(({ node }) => node.type === "boolean", /s\.boolean\(/),
  literal: node(({ node }) => node.enum?.length === 1, /s\.literal\(/),
  enum: node(({ node }) => (node.enum?.length ?? 0) > 1, /s\.enum\(/),
  "array: atomic": list("atomic"),
  "array: set": list("set"),
  "array: map with keys": both(list("map"), has("x-kubernetes-list-map-keys")),
  "array: minItems": has("minItems"),
  "array: maxItems": has("maxItems"),
  "a list-map key that is required": node(({ node }) =>
    keysOf(node).some((key) => node.items?.required?.includes(key))
  ),
  "a list-map key that is defaulted": node(({ node }) =>
    keysOf(node).some((key) => node.items?.properties?.[key]?.default !== undefined)
  ),
  map: node(({ node }) => isObject(node.additionalProperties), /s\.map\(/),
  "map: minProperties": has("minProperties"),
  "map: maxProperties": has("maxProperties"),
  object: node(({ node }) => node.properties !== undefined, /s\.object\(/),
  optional: node(
    ({ place, isRequired, node }) => place === "property" && !isRequired && node.default === undefined,
    /s\.optional\(/,
  ),
  nullable: has("nullable"),
  "default: scalar": node(({ node }) => node.default !== undefined && typeof node.default !== "object"),
  "default: list": node(({ node }) => Array.isArray(node.default)),
  "default: object": node(({ node }) => isObject(node.default)),
  "int-or-string": node(({ node }) => node["x-kubernetes-int-or-string"], /s\.intOrString\(/),
  quantity: node(({ node }) => node["x-kubernetes-int-or-string"] && node.pattern !== undefined, /s\.quantity\(/),
  duration: node(({ node }) => node.format === "duration", /s\.duration\(/),
  "date-time": node(({ node }) => node.format === "date-time", /s\.dateTime\(/),
  bytes: node(({ node }) => node.format === "byte", /s\.bytes\(/),
  "anything, unknown fields preserved": node(
    ({ node }) => node["x-kubernetes-preserve-unknown-fields"],
    /s\.anything\(/,
  ),
  "anything that is an object": node(
    ({ node }) => node["x-kubernetes-preserve-unknown-fields"] && node.type === "object",
    /s\.anything\(\{ type: "object"/,
  ),
  "embedded resource": node(({ node }) => node["x-kubernetes-embedded-resource"], /s\.embeddedResource\(\)/),
  "embedded resource with fields": node(
    ({ node }) => node["x-kubernetes-embedded-resource"] && node.properties !== undefined,
    /s\.embeddedResource\(\{/,
  ),
  "raw JSON Schema": text(/s\.raw</),
  "exactly one of": both(text(/s\.exactlyOneOf\(/), rule(({ message }) => message?.startsWith("exactly one of"))),
  "at most one of": text(/s\.atMostOneOf\(/),
  "at least one of": both(text(/s\.atLeastOneOf\(/), rule(({ message }) => message?.startsWith("at least one of"))),
  "one of several, in JSON Schema": both(
    text(/as: "schema"/),
    node(({ node }) => node.not !== undefined || node.oneOf !== undefined),
  ),
  immutable: both(text(/s\.immutable\(/), rule(({ rule }) => rule === "self == oldSelf")),
  title: has("title"),
  description: node(({ node }) => described(node) !== "", /description: "/),
  deprecated: node(({ node }) => described(node).includes("Deprecated: "), /deprecated: "/),
  example: has("example"),
  "a schema that is used twice": ({ source }) =>
    [...source.matchAll(/^const (\w+) = s\./gm)].some(([, name]) =>
      source.split(new RegExp(`\\b${name}\\b`)).length > 3
    ),
  pick: text(/s\.pick\(/),
  omit: text(/s\.omit\(/),
  extend: text(/s\.extend\(/),
  partial: text(/s\.partial\(/),
  with: text(/s\.with\(/),
};

const RULES: Readonly<Record<string, Feature["isIn"]>> = {
  "of the whole object": ruleAt(({ place }) => place === "root"),
  "of spec": ruleAt(({ place }) => place === "spec"),
  "in status": ({ crd }) =>
    crd.spec.versions.some(({ schema }) => {
      const status = schema.openAPIV3Schema.properties?.["status"];
      return [...(status ? nodesOf(status, "status") : [])].some(({ node }) => node["x-kubernetes-validations"]);
    }),
  "of an object": ruleAt(({ node, place }) => node.type === "object" && place === "property"),
  "of a scalar": ruleAt(({ node }) => node.type === "string" || node.type === "integer"),
  "of an int-or-string": ruleAt(({ node }) => node["x-kubernetes-int-or-string"]),
  "of a list": ruleAt(({ node }) => node.type === "array"),
  "of an item": ruleAt(({ place }) => place === "item"),
  "of a map": ruleAt(({ node }) => isObject(node.additionalProperties)),
  "of a map's value": ruleAt(({ place }) => place === "value"),
  "of an unbounded list": ({ crd }) =>
    crd.spec.versions.some(({ schema }) => {
      const { spec } = schema.openAPIV3Schema.properties ?? {};
      const unbounded = Object.entries(spec?.properties ?? {})
        .filter(([, { type, maxItems }]) => type === "array" && maxItems === undefined).map(([name]) => name);
      const expressions = (spec?.["x-kubernetes-validations"] ?? []).map(({ rule }) => rule).join();
      return unbounded.some((name) => expressions.includes(`self.${name}.`));
    }),
  message: rule(({ message }) => message),
  messageExpression: rule(({ messageExpression }) => messageExpression),
  reason: rule(({ reason }) => reason),
  fieldPath: rule(({ fieldPath }) => fieldPath),
  "oldSelf (transition)": rule(({ rule, optionalOldSelf }) => rule.includes("oldSelf") && !optionalOldSelf),
  optionalOldSelf: rule(({ optionalOldSelf }) => optionalOldSelf),
};

const BUILTIN: Readonly<Record<string, Feature["isIn"]>> = {
  PodSpec: imports("PodSpec", "@op/sdk/schemas(?:/full|/short)?"),
  ResourceRequirements: imports("ResourceRequirements"),
  LabelSelector: imports("LabelSelector"),
  Affinity: imports("Affinity"),
  Volume: imports("Volume"),
  ObjectMeta: imports("ObjectMeta"),
  "with their required fields": both(
    imports("LabelSelector"),
    node(({ node }) => node.required?.includes("operator") && node.properties?.["values"] !== undefined),
  ),
  "with their list-map keys": node(({ node }) => keysOf(node).includes("containerPort")),
  "with their int-or-string": node(({ node }) => node.properties?.["httpGet"] !== undefined),
  "picked from": text(/s\.pick\((?:PodSpec|ObjectMeta)/),
  "omitted from": text(/s\.omit\(Volume/),
  "overridden by extend": text(/s\.extend\(PodSpec/),
  "without descriptions": both(
    imports("Affinity"),
    (kind) => !JSON.stringify(kind.crd).includes("Describes node affinity"),
  ),
  "with short descriptions": imports("\\w+", "@op/sdk/schemas/short"),
  "with full descriptions": imports("\\w+", "@op/sdk/schemas/full"),
  "a warning about the size": definition((crd) => definitionWarnings(crd).some((each) => / KiB, /.test(each))),
};

const KINDS: Readonly<Record<string, Feature["isIn"]>> = {
  "names derived from the kind": text(/kind: "(?!Route)\w+",(?![^}]*plural:)/),
  "explicit names": text(/plural: "/),
  "scope: Namespaced": definition(({ spec }) => spec.scope === "Namespaced"),
  "scope: Cluster": definition(({ spec }) => spec.scope === "Cluster"),
  "short names": definition(({ spec }) => spec.names.shortNames),
  categories: definition(({ spec }) => spec.names.categories),
  description: version(({ schema }) => schema.openAPIV3Schema.description),
  "labels and annotations": definition(({ metadata }) => metadata.labels && metadata.annotations),
  "column: type from the schema": column(({ name, type }) => name === "Namespaces" && type === "integer"),
  "column: filter": column(({ jsonPath }) => jsonPath.includes("[?(@.type==")),
  "column: index": column(({ jsonPath }) => jsonPath.includes("[0]")),
  "column: priority": column(({ priority }) => priority),
  "column: format": column(({ format }) => format),
  "column: description": column(({ description }) => description),
  "column: date": column(({ type }) => type === "date"),
  scale: version(({ subresources }) => subresources?.scale?.labelSelectorPath),
  "selectable fields": version(({ selectableFields }) => selectableFields),
  "several versions": definition(({ spec }) => spec.versions.length > 1),
  "a version that is not served": version(({ served }) => !served),
  "stored in another version": definition(({ spec }) => spec.versions.findIndex(({ storage }) => storage) > 0),
  deprecated: version(({ deprecated, deprecationWarning }) => deprecated && deprecationWarning === undefined),
  "deprecated, with a message": version(({ deprecationWarning }) => deprecationWarning),
  "status subresource": version(({ subresources }) => subresources?.status),
  "conditions and observedGeneration": version(({ schema }) => {
    const status = schema.openAPIV3Schema.properties?.["status"]?.properties;
    return status?.["conditions"] && status["observedGeneration"];
  }),
  "conditions disabled": version(({ schema }) => {
    const status = schema.openAPIV3Schema.properties?.["status"]?.properties;
    return status !== undefined && status["conditions"] === undefined;
  }),
  "properties next to spec and status": rootHas(({ properties = {} }) => properties["data"]),
  "no spec": rootHas(({ properties = {} }) => properties["data"] && !properties["spec"]),
  "a spec that is not an object": rootHas(({ properties = {} }) => properties["spec"] && !properties["spec"].type),
  "restricted names": rootHas(({ properties = {} }) => properties["metadata"]?.properties?.["name"]),
  "unknown fields preserved next to them": rootHas((root) => root["x-kubernetes-preserve-unknown-fields"]),
  "other keywords of the whole object": rootHas((root) => root.minProperties),
  "a status without a subresource": version(({ schema, subresources }) =>
    schema.openAPIV3Schema.properties?.["status"] && !subresources?.status
  ),
  "a status with required fields": version(({ schema, subresources }) =>
    schema.openAPIV3Schema.properties?.["status"]?.required && subresources?.status
  ),
  "no required field in status": version(({ schema }) => {
    const status = schema.openAPIV3Schema.properties?.["status"];
    return status !== undefined && status.required === undefined;
  }),
};

function keysOf(node: JsonSchema): readonly string[] {
  return node["x-kubernetes-list-map-keys"] ?? [];
}

function features(about: string, of: Readonly<Record<string, Feature["isIn"]>>): Feature[] {
  return Object.entries(of).map(([name, isIn]) => ({ about, name, isIn }));
}

/** All features of schemas, of Kubernetes' own types in them, and of kinds. */
export const FEATURES: readonly Feature[] = [
  ...features("schema", SCHEMAS),
  ...features("rule", RULES),
  ...features("builtin type", BUILTIN),
  ...features("kind", KINDS),
];
