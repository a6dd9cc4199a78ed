/**
 * CustomResourceDefinitions as they are read: of which kinds they are, and that nothing in them is
 * what it must not be.
 */
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
 * The CustomResourceDefinitions among some objects. Lists are opened; other kinds are passed over.
 * Of each the names are looked at, no more: of many definitions in a cluster, one that is not as it
 * must be is in nobody's way. {@linkcode checkDefinition} looks at the rest.
 *
 * @param objects What was read.
 * @throws {Failure} If one is of a version that is no longer, or has no names.
 */
export function definitionsIn(objects: readonly unknown[]): Definition[] {
  return objects.flatMap((object): Definition[] => {
    if (!isObject(object)) return [];
    if (typeof object.kind === "string" && object.kind.endsWith("List") && Array.isArray(object.items)) {
      const { kind, apiVersion, items } = object;
      // The items of a list from a server do not say what they are.
      const own = kind === "List" ? {} : { apiVersion, kind: (kind as string).slice(0, -"List".length) };
      return definitionsIn(items.map((item) => (isObject(item) ? { ...own, ...item } : item)));
    }
    return object.kind === "CustomResourceDefinition" ? [named(object)] : [];
  });
}

function named(object: Record<string, unknown>): Definition {
  const metadata = isObject(object.metadata) ? object.metadata : {};
  const faults = new Faults(metadata.name);
  if (object.apiVersion === `${GROUP}/v1beta1`) {
    faults.refuse(
      "apiVersion",
      `is ${GROUP}/v1beta1, which Kubernetes no longer serves since 1.22: take a newer one of the project that publishes it, or convert it to ${GROUP}/v1`,
    );
  }
  if (object.apiVersion !== `${GROUP}/v1`) {
    faults.refuse("apiVersion", `must be "${GROUP}/v1": current value is ${show(object.apiVersion)}`);
  }
  const spec = faults.object(object.spec, "spec");
  const names = faults.object(spec.names, "spec.names");
  faults.text(spec.group, "spec.group");
  faults.text(names.kind, "spec.names.kind");
  faults.text(names.plural, "spec.names.plural");
  faults.list(spec.versions, "spec.versions");
  return object as unknown as Definition;
}

/**
 * Makes sure that a definition is as it must be, wherever it was read from.
 *
 * @param definition The definition.
 * @returns The same.
 * @throws {Failure} If it is not: the message says where and why.
 */
export function checkDefinition(definition: Definition): Definition {
  const faults = new Faults(definition.metadata?.name);
  faults.mustBeJson(definition);
  const { spec } = definition;
  if (spec.scope !== "Namespaced" && spec.scope !== "Cluster") {
    faults.refuse("spec.scope", `must be "Namespaced" or "Cluster": current value is ${show(spec.scope)}`);
  }
  for (const [i, version] of spec.versions.entries()) checkVersion(faults, version, `spec.versions[${i}]`);
  if (spec.versions.filter(({ storage }) => storage === true).length !== 1) {
    faults.refuse("spec.versions", "must have one version with storage: true");
  }
  return definition;
}

function checkVersion(faults: Faults, given: unknown, path: string): void {
  const version = faults.object(given, path);
  faults.text(version.name, `${path}.name`);
  const schema = faults.object(version.schema, `${path}.schema`, "; a version without a schema cannot be served");
  const root = faults.object(schema.openAPIV3Schema, `${path}.schema.openAPIV3Schema`);
  checkSchema(faults, root, `${path}.schema.openAPIV3Schema`);
  for (const key of ["additionalPrinterColumns", "selectableFields"] as const) {
    if (version[key] === undefined) continue;
    for (const [i, item] of faults.list(version[key], `${path}.${key}`).entries()) {
      faults.text(faults.object(item, `${path}.${key}[${i}]`).jsonPath, `${path}.${key}[${i}].jsonPath`);
    }
  }
}

/**
 * Everything below walks schemas by these keywords: that they lead to schemas is made sure of once.
 */
function checkSchema(faults: Faults, schema: Record<string, unknown>, path: string): void {
  if (schema.$ref !== undefined) faults.refuse(`${path}.$ref`, "must not be there: a server takes no references");
  const { properties, items, additionalProperties, not, required, "x-kubernetes-validations": rules } = schema;
  if (properties !== undefined) {
    for (const [name, child] of Object.entries(faults.object(properties, `${path}.properties`))) {
      const at = `${path}.properties.${name}`;
      if (name === "") faults.refuse(`${path}.properties`, "has a property without a name");
      checkSchema(faults, faults.object(child, at), at);
    }
  }
  for (const [key, value] of Object.entries({ items, not, additionalProperties })) {
    if (value === undefined || (key === "additionalProperties" && typeof value === "boolean")) continue;
    checkSchema(faults, faults.object(value, `${path}.${key}`), `${path}.${key}`);
  }
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    if (schema[key] === undefined) continue;
    for (const [i, child] of faults.list(schema[key], `${path}.${key}`).entries()) {
      checkSchema(faults, faults.object(child, `${path}.${key}[${i}]`), `${path}.${key}[${i}]`);
    }
  }
  if (schema.enum !== undefined) faults.list(schema.enum, `${path}.enum`);
  if (required !== undefined) {
    for (const [i, name] of faults.list(required, `${path}.required`).entries()) {
      faults.text(name, `${path}.required[${i}]`);
    }
  }
  if (rules === undefined) return;
  for (const [i, rule] of faults.list(rules, `${path}.x-kubernetes-validations`).entries()) {
    const at = `${path}.x-kubernetes-validations[${i}]`;
    faults.text(faults.object(rule, at).rule, `${at}.rule`);
  }
}

/** Refuses what is not as it must be, and says in which definition and where. */
class Faults {
  readonly #name: string;

  constructor(name: unknown) {
    this.#name = typeof name === "string" ? name : "";
  }

  refuse(path: string, why: string): never {
    throw new Failure(`Cannot read CustomResourceDefinition "${this.#name}": "${path}" ${why}`);
  }

  object(value: unknown, path: string, more = ""): Record<string, unknown> {
    return isObject(value) ? value : this.refuse(path, `must be an object: current value is ${show(value)}${more}`);
  }

  list(value: unknown, path: string): unknown[] {
    return Array.isArray(value) ? value : this.refuse(path, `must be a list: current value is ${show(value)}`);
  }

  text(value: unknown, path: string): void {
    if (typeof value !== "string" || value === "") this.refuse(path, `must be a text: current value is ${show(value)}`);
  }

  /**
   * YAML can say of a value that it is in itself, and JavaScript takes one name for something else.
   */
  mustBeJson(value: unknown, path: readonly string[] = [], above: readonly unknown[] = []): void {
    if (typeof value === "number" && !Number.isFinite(value)) {
      this.refuse(path.join("."), `must be JSON: current value is ${value}`);
    }
    if (typeof value !== "object" || value === null) return;
    if (above.includes(value)) this.refuse(path.join("."), "must not contain itself");
    const inner = [...above, value];
    for (const [key, item] of Object.entries(value)) {
      if (key === "__proto__") this.refuse([...path, key].join("."), "must not be there: it is no name");
      if (typeof item === "object" || typeof item === "number") this.mustBeJson(item, [...path, key], inner);
    }
  }
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}
