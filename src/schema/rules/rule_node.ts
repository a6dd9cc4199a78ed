/** The rules of a schema by position. They are compiled once, on first use. */
import { isObject } from "../../base/json.ts";
import { celName } from "../_cel_name.ts";
import type { JsonSchema } from "../json_schema.ts";
import { type CompiledRule, compileRules } from "./compiled_rule.ts";
import { type DeclaredType, declaredType } from "./declared_type.ts";

/** A node of a schema that has rules itself or below it. */
export class RuleNode {
  readonly schema: JsonSchema;
  readonly isResource: boolean;
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** The rules of a map's values. */
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  readonly #type: DeclaredType | undefined;
  #rules: readonly CompiledRule[] | undefined;

  constructor(schema: JsonSchema, isResource: boolean) {
    this.schema = schema;
    this.isResource = isResource;
    this.#type = declaredType(schema, isResource);
    const { additionalProperties, items, properties = {} } = schema;
    this.values = isObject(additionalProperties) ? nodeOf(additionalProperties) : undefined;
    this.items = items && nodeOf(items);
    const found = new Map<string, RuleNode>();
    for (const [key, property] of Object.entries(properties)) {
      const node = this.#isVisible(key, property) ? nodeOf(property) : undefined;
      if (node !== undefined) found.set(key, node);
    }
    this.properties = found;
  }

  /** Rules are not evaluated on values that they cannot access. */
  #isVisible(key: string, property: JsonSchema): boolean {
    const field = celName(key);
    if (field !== undefined && this.#type?.fields !== undefined) return this.#type.fields.has(field);
    return declaredType(property, property["x-kubernetes-embedded-resource"] ?? false) !== undefined;
  }

  /** The rules of this node; `undefined` if rules cannot access its values. */
  get rules(): readonly CompiledRule[] | undefined {
    if (this.#rules === undefined && this.#type !== undefined) this.#rules = compileRules(this.schema, this.#type);
    return this.#rules;
  }

  /** Whether there are no rules here and below. Rules on inaccessible values do not count. */
  get isEmpty(): boolean {
    return !this.hasOwnRules && this.items === undefined && this.values === undefined && this.properties.size === 0;
  }

  get hasOwnRules(): boolean {
    return (this.schema["x-kubernetes-validations"] ?? []).length > 0;
  }
}

/**
 * Nodes by schema, and by whether it describes a whole object. Entries cannot become stale, since
 * schemas are not modified. The map is weak, so that deleted definitions are garbage-collected.
 */
const nodesBySchema = new WeakMap<JsonSchema, Map<boolean, RuleNode | undefined>>();

/**
 * Returns the rules of a schema and its descendants.
 *
 * @param schema The schema. It must not be modified later.
 * @param isResource Whether it describes a whole object.
 * @returns The rules, cached by schema; `undefined` if there are none.
 */
export function ruleNode(schema: JsonSchema, isResource: boolean): RuleNode | undefined {
  let nodes = nodesBySchema.get(schema);
  if (nodes === undefined) nodesBySchema.set(schema, nodes = new Map());
  if (!nodes.has(isResource)) {
    const node = hasRules(schema) ? new RuleNode(schema, isResource) : undefined;
    nodes.set(isResource, node?.isEmpty ? undefined : node);
  }
  return nodes.get(isResource);
}

function nodeOf(schema: JsonSchema): RuleNode | undefined {
  return ruleNode(schema, schema["x-kubernetes-embedded-resource"] ?? false);
}

/** Results of {@linkcode hasRules} by schema. Entries cannot become stale, as above. */
const resultsOfHasRules = new WeakMap<JsonSchema, boolean>();

function hasRules(schema: JsonSchema): boolean {
  const cached = resultsOfHasRules.get(schema);
  if (cached !== undefined) return cached;
  const { additionalProperties, items, properties = {} } = schema;
  const found = (schema["x-kubernetes-validations"] ?? []).length > 0 || (items !== undefined && hasRules(items)) ||
    (isObject(additionalProperties) && hasRules(additionalProperties)) || Object.values(properties).some(hasRules);
  resultsOfHasRules.set(schema, found);
  return found;
}
