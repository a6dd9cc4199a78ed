/** Finds CustomResourceDefinitions among objects, and validates them. */
import { isObject } from "../internal/mod.gen.ts";
import type { JsonSchema } from "@op/sdk/resource";
import { Failure } from "../exit_code.ts";

/** A column of `kubectl get`. */
export interface DefinedColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly priority?: number;
  readonly description?: string;
}

/** A version of a kind. */
export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources?: {
    readonly status?: Record<never, never>;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly DefinedColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** A CustomResourceDefinition of apiextensions.k8s.io/v1. */
export interface Definition {
  readonly metadata: {
    readonly name: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
  };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly singular?: string;
      readonly listKind?: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly DefinedVersion[];
    readonly conversion?: { readonly strategy?: string };
    readonly preserveUnknownFields?: boolean;
  };
}

const GROUP = "apiextensions.k8s.io";

/**
 * Returns the CustomResourceDefinitions among objects and in lists. Only their names are validated,
 * so that one invalid definition in a cluster does not affect the others.
 * {@linkcode checkDefinition} validates the rest.
 *
 * @param objects The objects.
 * @throws {Failure} If a definition has an API version that is no longer served, or no names.
 */
export function definitionsIn(objects: readonly unknown[]): Definition[] {
  return objects.flatMap((object): Definition[] => {
    if (!isObject(object)) return [];
    if (typeof object.kind === "string" && object.kind.endsWith("List") && Array.isArray(object.items)) {
      const { kind, apiVersion, items } = object;
      // The items of a list from an API server have no kind.
      const own = kind === "List" ? {} : { apiVersion, kind: (kind as string).slice(0, -"List".length) };
      return definitionsIn(items.map((item) => (isObject(item) ? { ...own, ...item } : item)));
    }
    return object.kind === "CustomResourceDefinition" ? [named(object)] : [];
  });
}

function named(object: Record<string, unknown>): Definition {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const problems = new Problems(metadata.name);
  if (object.apiVersion === `${GROUP}/v1beta1`) {
    problems.reject(
      "apiVersion",
      `is ${GROUP}/v1beta1, which Kubernetes has not served since 1.22. Use a newer definition from its project, or convert it to ${GROUP}/v1.`,
    );
  }
  if (object.apiVersion !== `${GROUP}/v1`) {
    problems.reject("apiVersion", `must be "${GROUP}/v1", got ${show(object.apiVersion)}.`);
  }
  const spec = problems.object(object.spec, "spec");
  const names = problems.object(spec.names, "spec.names");
  problems.text(spec.group, "spec.group");
  problems.text(names.kind, "spec.names.kind");
  problems.text(names.plural, "spec.names.plural");
  problems.list(spec.versions, "spec.versions");
  return object as unknown as Definition;
}

/**
 * Validates a definition.
 *
 * @param definition The definition.
 * @returns The same definition.
 * @throws {Failure} If it is not valid. The message has the path and the reason.
 */
export function checkDefinition(definition: Definition): Definition {
  const problems = new Problems(definition.metadata?.name);
  problems.checkJson(definition);
  const { spec } = definition;
  if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") {
    problems.reject("spec.scope", `must be "Namespaced" or "Cluster", got ${show(spec.scope)}.`);
  }
  for (const [i, version] of spec.versions.entries()) checkVersion(problems, version, `spec.versions[${i}]`);
  if (spec.versions.filter(({ storage }) => storage === true).length !== 1) {
    problems.reject("spec.versions", "must have exactly one version with storage: true.");
  }
  return definition;
}

function checkVersion(problems: Problems, given: unknown, path: string): void {
  const version = problems.object(given, path);
  problems.text(version.name, `${path}.name`);
  const schema = problems.object(version.schema, `${path}.schema`, " A version without a schema cannot be served.");
  const root = problems.object(schema.openAPIV3Schema, `${path}.schema.openAPIV3Schema`);
  checkSchema(problems, root, `${path}.schema.openAPIV3Schema`);
  for (const key of ["additionalPrinterColumns", "selectableFields"] as const) {
    if (version[key] === undefined) continue;
    for (const [i, item] of problems.list(version[key], `${path}.${key}`).entries()) {
      problems.text(problems.object(item, `${path}.${key}[${i}]`).jsonPath, `${path}.${key}[${i}].jsonPath`);
    }
  }
}

/** Validates the keywords that contain schemas, because other code follows them without checks. */
function checkSchema(problems: Problems, schema: Record<string, unknown>, path: string): void {
  if (schema.$ref !== undefined) {
    problems.reject(`${path}.$ref`, "is not allowed, because API servers do not support references.");
  }
  const { properties, items, additionalProperties, not, required, "x-kubernetes-validations": rules } = schema;
  if (properties !== undefined) {
    for (const [name, child] of Object.entries(problems.object(properties, `${path}.properties`))) {
      const at = `${path}.properties.${name}`;
      if (name === "") problems.reject(`${path}.properties`, "has a property without a name.");
      checkSchema(problems, problems.object(child, at), at);
    }
  }
  for (const [key, value] of Object.entries({ items, not, additionalProperties })) {
    if (value === undefined || (key === "additionalProperties" && typeof value === "boolean")) continue;
    checkSchema(problems, problems.object(value, `${path}.${key}`), `${path}.${key}`);
  }
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    if (schema[key] === undefined) continue;
    for (const [i, child] of problems.list(schema[key], `${path}.${key}`).entries()) {
      checkSchema(problems, problems.object(child, `${path}.${key}[${i}]`), `${path}.${key}[${i}]`);
    }
  }
  if (schema.enum !== undefined) problems.list(schema.enum, `${path}.enum`);
  if (required !== undefined) {
    for (const [i, name] of problems.list(required, `${path}.required`).entries()) {
      problems.text(name, `${path}.required[${i}]`);
    }
  }
  if (rules === undefined) return;
  for (const [i, rule] of problems.list(rules, `${path}.x-kubernetes-validations`).entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    problems.text(problems.object(rule, at).rule, `${at}.rule`);
  }
}

/** Rejects invalid values with the name of the definition and the path. */
class Problems {
  readonly #name: string;

  constructor(name: unknown) {
    this.#name = typeof name === "string" ? name : "";
  }

  reject(path: string, problem: string): never {
    throw new Failure(`Cannot read CustomResourceDefinition "${this.#name}": "${path}" ${problem}`);
  }

  object(value: unknown, path: string, more = ""): Record<string, unknown> {
    return isObject(value) ? value : this.reject(path, `must be an object, got ${show(value)}.${more}`);
  }

  list(value: unknown, path: string): unknown[] {
    return Array.isArray(value) ? value : this.reject(path, `must be a list, got ${show(value)}.`);
  }

  text(value: unknown, path: string): void {
    if (typeof value !== "string" || value === "") {
      this.reject(path, `must be a non-empty string, got ${show(value)}.`);
    }
  }

  /** Rejects values that YAML can express and JSON cannot, and the property name `__proto__`. */
  checkJson(value: unknown, path: readonly string[] = [], parents: readonly unknown[] = []): void {
    if (typeof value === "number" && !Number.isFinite(value)) {
      this.reject(path.join("."), `must be valid in JSON, got ${value}.`);
    }
    if (typeof value !== "object" || value === null) return;
    if (parents.includes(value)) this.reject(path.join("."), "must not contain itself.");
    const inner = [...parents, value];
    for (const [key, item] of Object.entries(value)) {
      if (key === "__proto__") this.reject([...path, key].join("."), "is not allowed as a name.");
      if (typeof item === "object" || typeof item === "number") this.checkJson(item, [...path, key], inner);
    }
  }
}

function show(value: unknown): string {
  return value === undefined ? "no value" : JSON.stringify(value);
}
