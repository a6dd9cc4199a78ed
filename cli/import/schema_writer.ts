/**
 * Writes schemas as TypeScript. Each candidate expression is evaluated, and the first one whose
 * value equals the schema is used. If there is none, the schema is written as JSON in `s.raw`.
 */
import type { JsonSchema } from "@op/sdk/resource";
import { Failure } from "../exit_code.ts";
import { alternativesOf } from "./alternatives.ts";
import { call, type Evaluation, type Expression, literal, nameOf, record } from "./expression.ts";
import { nodesIn } from "./nodes.ts";
import { sameSchema } from "./normal_form.ts";
import { optionalArgument, optionsOf } from "./options_of.ts";
import { scalars } from "./scalars.ts";
import { flatWidth } from "./print.ts";
import { OWN_KEYWORDS } from "./schema_identities.ts";
import { children, type SchemaGroup, type SchemaIndex, type SchemaPath } from "./schema_index.ts";

/** A schema that is declared as a constant: `const name = ...`. */
export interface Declaration {
  /** Its temporary name in expressions. */
  readonly id: string;
  readonly expression: Expression;
  readonly group: SchemaGroup;
}

/** A schema that needs no declaration: it can be imported. */
export interface ImportedSchema {
  readonly name: string;
  readonly schema: JsonSchema;
}

/**
 * An object that contains more schemas than this becomes a constant, even if it is used only once.
 */
const MAX_INLINE = 20;

/**
 * A schema that is used more than once becomes a constant if its code has this many columns or, for
 * an object, if it contains this many schemas.
 */
const MIN_SHARED = { schemas: 3, columns: 60 };

/** The message of `s.immutable`, which is Kubernetes' own for immutable fields. */
const IMMUTABLE_MESSAGE = "field is immutable";

/** Writes schemas as expressions, and collects the constants that they need. */
export class SchemaWriter {
  /** The constants. Each one comes before the constants that use it. */
  readonly declarations: Declaration[] = [];
  readonly #index: SchemaIndex;
  readonly #evaluation: Evaluation;
  readonly #imported: (schema: JsonSchema) => ImportedSchema | undefined;
  readonly #written = new Map<string, Expression>();
  /**
   * The constant of each group, with the keywords that all uses share. `undefined` if each use is
   * written in full.
   */
  readonly #shared = new Map<string, { readonly name: string; readonly schema: JsonSchema } | undefined>();
  /** The number of schemas that are written as JSON, by the ID of the group. */
  readonly #raw = new Map<string, number>();

  /**
   * @param index Groups the schemas to write.
   * @param evaluation Evaluates expressions.
   * @param imported Returns the schema to import instead of writing a schema, if there is one.
   */
  constructor(
    index: SchemaIndex,
    evaluation: Evaluation,
    imported: (schema: JsonSchema) => ImportedSchema | undefined = () => undefined,
  ) {
    this.#index = index;
    this.#evaluation = evaluation;
    this.#imported = imported;
  }

  /**
   * Returns a schema as a TypeScript expression.
   *
   * @param schema The schema.
   * @param path The path of the schema, for error messages.
   * @throws {Failure} If no expression reproduces the schema.
   */
  write(schema: JsonSchema, path: SchemaPath): Expression {
    const group = this.#index.groupOf(schema);
    if (group === undefined) return this.#inline(schema, path);
    if (!this.#shared.has(group.id)) this.#share(group, schema, path);
    const shared = this.#shared.get(group.id);
    return (shared && this.#reference(shared, schema)) ?? this.#inline(schema, path);
  }

  /**
   * Returns the parts of a schema that are written as JSON.
   *
   * @param schema The schema.
   * @param path The path of the schema.
   * @returns The outermost parts, with the number of schemas in each.
   */
  rawIn(schema: JsonSchema, path: SchemaPath): { readonly path: string; readonly nodes: number }[] {
    const nodes = this.#raw.get(this.#index.coreOf(schema)) ?? 0;
    const own = nodes === 0 ? [] : [{ path: pathText(path), nodes }];
    if (nodes === nodesIn(schema)) return own;
    return [...own, ...children(schema).flatMap(([name, child]) => this.rawIn(child, [...path, name]))];
  }

  /** Decides whether the schemas of a group become a constant, and declares it. */
  #share(group: SchemaGroup, schema: JsonSchema, path: SchemaPath): void {
    const imported = this.#imported(schema);
    if (imported !== undefined) {
      this.#evaluation.declare(imported.name, imported.schema);
      this.#shared.set(group.id, imported);
      return;
    }
    const { bare, common } = splitKeywords(group);
    const expression = this.#inline(bare, path);
    if (isRaw(expression) || !becomesConstant(expression, bare, group.count)) {
      this.#shared.set(group.id, undefined);
      return;
    }
    const whole = { ...bare, ...common };
    const declaration: Declaration = { id: `#${group.id}`, expression: this.#inline(whole, path), group };
    this.declarations.push(declaration);
    this.#evaluation.declare(declaration.id, this.#evaluation.valueOf(declaration.expression));
    this.#shared.set(group.id, { name: declaration.id, schema: whole });
  }

  /**
   * Returns the constant with the keywords of one use, or `undefined` if no builder can add them.
   */
  #reference(
    shared: { readonly name: string; readonly schema: JsonSchema },
    schema: JsonSchema,
  ): Expression | undefined {
    const name = nameOf(shared.name);
    const own: Record<string, unknown> = {};
    for (const key of OWN_KEYWORDS) {
      if (key !== "nullable" && JSON.stringify(schema[key]) !== JSON.stringify(shared.schema[key])) {
        own[key] = schema[key];
      }
    }
    const inner = schema.nullable === true && shared.schema.nullable !== true ? call("s.nullable", name) : name;
    const options = optionsOf(own, []);
    if (options === undefined) return undefined;
    return this.#verified(schema, Object.keys(own).length === 0 ? inner : call("s.with", inner, options));
  }

  #inline(schema: JsonSchema, path: SchemaPath): Expression {
    const id = this.#index.wholeOf(schema);
    const written = this.#written.get(id);
    if (written !== undefined) return written;
    const expression = this.#writeWithBuilders(schema, path) ?? this.#writeRaw(schema, path);
    this.#written.set(id, expression);
    return expression;
  }

  #writeWithBuilders(schema: JsonSchema, path: SchemaPath): Expression | undefined {
    for (const candidate of this.#candidates(schema, path)) {
      const verified = this.#verified(schema, candidate);
      if (verified === undefined) continue;
      this.#raw.set(this.#index.coreOf(schema), jsonIn(verified, schema));
      return verified;
    }
    return undefined;
  }

  /** Returns the expression if it evaluates to the schema. */
  #verified(schema: JsonSchema, expression: Expression): Expression | undefined {
    try {
      return sameSchema(this.#evaluation.valueOf(expression) as JsonSchema, schema) ? expression : undefined;
    } catch {
      return undefined; // Another builder may accept the schema.
    }
  }

  #writeRaw(schema: JsonSchema, path: SchemaPath): Expression {
    const expression = call("s.raw", literal(schema));
    try {
      const value = this.#evaluation.valueOf(expression) as JsonSchema;
      if (!sameSchema(value, schema)) throw new TypeError("s.raw() returns a different schema");
    } catch (error) {
      throw new Failure(`Cannot import the schema of "${pathText(path)}": ${(error as Error).message}`, {
        cause: error,
      });
    }
    this.#raw.set(this.#index.coreOf(schema), nodesIn(schema));
    return expression;
  }

  /** Yields expressions that may evaluate to a schema, the most readable first. */
  *#candidates(schema: JsonSchema, path: SchemaPath): Generator<Expression> {
    if (schema.nullable === true) {
      const { nullable: _, default: value, ...rest } = schema;
      if (value === null) {
        yield call("s.with", call("s.nullable", this.#inline(rest, path)), record({ default: literal(null) }));
      } else yield call("s.nullable", this.#inline(value === undefined ? rest : { ...rest, default: value }, path));
      return;
    }
    for (const { callee, names, as, inner } of alternativesOf(schema)) {
      const object = this.#inline(inner, path);
      if (isRaw(object)) continue;
      yield call(callee, object, literal(names), ...(as === "schema" ? [literal({ as })] : []));
    }
    yield* scalars(schema);
    if (schema.type === "array") yield* this.#arrays(schema, path);
    if (schema.type === "object") yield* this.#objects(schema, path);
  }

  *#arrays(schema: JsonSchema, path: SchemaPath): Generator<Expression> {
    const own = ["minItems", "maxItems", "x-kubernetes-list-type", "x-kubernetes-list-map-keys"];
    const options = optionsOf(schema, ["type", "items"], own);
    if (schema.items === undefined || options === undefined) return;
    yield call("s.array", this.write(schema.items, [...path, "*"]), ...optionalArgument(options));
  }

  *#objects(schema: JsonSchema, path: SchemaPath): Generator<Expression> {
    const own = ["minProperties", "maxProperties", "x-kubernetes-map-type"];
    const { additionalProperties, properties = {} } = schema;
    if (additionalProperties !== undefined) {
      const options = optionsOf(schema, ["type", "additionalProperties"], own);
      if (typeof additionalProperties !== "object" || options === undefined) return;
      yield call("s.map", this.write(additionalProperties, [...path, "*"]), ...optionalArgument(options));
      return;
    }
    const isEmbedded = schema["x-kubernetes-embedded-resource"] === true;
    const isEmpty = Object.keys(properties).length === 0;
    for (const entries of this.#properties(schema, path)) {
      const structure = ["type", "properties", "required", "x-kubernetes-embedded-resource"];
      const open = "x-kubernetes-preserve-unknown-fields";
      const rules = { ...schema, "x-kubernetes-validations": entries.rules };
      if (isEmbedded && isEmpty) {
        const options = optionsOf(withoutEmptyRules(rules), [...structure, open], own);
        if (options !== undefined) {
          yield options.entries.length === 0
            ? call("s.embeddedResource")
            : call("s.embeddedResource", record({}), options);
        }
      }
      const options = optionsOf(withoutEmptyRules(withUnknownRequired(rules)), structure, [...own, open]);
      if (options === undefined) continue;
      yield call(
        isEmbedded ? "s.embeddedResource" : "s.object",
        record(entries.properties),
        ...optionalArgument(options),
      );
    }
  }

  /**
   * Yields the properties as builders, with the rules of the object that the builders do not add
   * themselves. The first candidate writes immutable properties with `s.immutable`, which may add a
   * rule to the object.
   */
  *#properties(schema: JsonSchema, path: SchemaPath) {
    const { properties = {}, required = [], "x-kubernetes-validations": rules = [] } = schema;
    const write = (name: string, child: JsonSchema, isImmutable: boolean): Expression => {
      const inner = this.write(isImmutable ? withoutLastRule(child) : child, [...path, name]);
      const mayBeAdded = rules.some(({ rule }) => rule.endsWith(`|| !has(oldSelf.${name})`));
      const expression = isImmutable
        ? call("s.immutable", inner, ...(mayBeAdded ? [literal({ mayBeAdded })] : []))
        : inner;
      return required.includes(name) || child.default !== undefined ? expression : call("s.optional", expression);
    };
    if (Object.values(properties).some(isImmutable)) {
      const entries = Object.entries(properties).map(([name, child]) =>
        [name, write(name, child, isImmutable(child))] as const
      );
      const written = Object.fromEntries(entries);
      const derived = this.#rulesOf(call("s.object", record(written)));
      yield { properties: written, rules: rules.filter(({ rule }) => !derived.includes(rule)) };
    }
    yield {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, child]) => [name, write(name, child, false)] as const),
      ),
      rules,
    };
  }

  #rulesOf(object: Expression): string[] {
    try {
      const schema = this.#evaluation.valueOf(object) as JsonSchema;
      return (schema["x-kubernetes-validations"] ?? []).map(({ rule }) => rule);
    } catch {
      return [];
    }
  }
}

/**
 * Returns the schema of a group without {@linkcode OWN_KEYWORDS}, and separately the values of
 * these keywords that all uses share.
 */
function splitKeywords({ uses }: SchemaGroup): { readonly bare: JsonSchema; readonly common: JsonSchema } {
  const [first, ...others] = uses;
  const bare: Record<string, unknown> = { ...first!.schema };
  const common: Record<string, unknown> = {};
  for (const key of OWN_KEYWORDS) {
    const value = bare[key];
    delete bare[key];
    const text = JSON.stringify(value);
    if (value !== undefined && others.every(({ schema }) => JSON.stringify(schema[key]) === text)) common[key] = value;
  }
  return { bare, common };
}

function becomesConstant(expression: Expression, schema: JsonSchema, count: number): boolean {
  const isObject = schema.properties !== undefined;
  const schemas = buildersIn(expression);
  if (isObject && schemas > MAX_INLINE) return true;
  if (count < 2) return false;
  return (isObject && schemas >= MIN_SHARED.schemas) || flatWidth(expression) >= MIN_SHARED.columns;
}

/** Returns the number of builders in an expression, except those that only wrap another builder. */
function buildersIn(expression: Expression): number {
  switch (expression.type) {
    case "call": {
      const own = WRAPPERS.includes(expression.callee) ? 0 : 1;
      return expression.args.reduce((sum, arg) => sum + buildersIn(arg), own);
    }
    case "name":
      return 1;
    case "record":
      return expression.entries.reduce((sum, [, value]) => sum + buildersIn(value), 0);
    default:
      return 0;
  }
}

/** Builders that wrap another builder. */
const WRAPPERS: readonly string[] = [
  "s.optional",
  "s.nullable",
  "s.immutable",
  "s.with",
  "s.exactlyOneOf",
  "s.atMostOneOf",
  "s.atLeastOneOf",
];

/**
 * Returns the number of schemas that an expression has as JSON in its options: those in `allOf`,
 * `anyOf`, `oneOf` and `not`.
 */
function jsonIn(expression: Expression, schema: JsonSchema): number {
  if (expression.type !== "call") return 0;
  const [first, ...rest] = expression.args;
  if (WRAPPERS.includes(expression.callee)) return jsonIn(first!, schema);
  const options = OBJECT_BUILDERS.includes(expression.callee) ? rest[0] : expression.args.at(-1);
  if (options?.type !== "record") return 0;
  return options.entries.reduce((sum, [key]) => sum + (COMBINATORS.includes(key) ? nodesUnder(schema, key) : 0), 0);
}

const OBJECT_BUILDERS: readonly string[] = ["s.object", "s.embeddedResource"];
const COMBINATORS: readonly string[] = ["allOf", "anyOf", "oneOf", "not"];

function nodesUnder(schema: JsonSchema, key: string): number {
  return nodesIn({ [key]: (schema as Record<string, unknown>)[key] } as JsonSchema) - 1;
}

function isRaw(expression: Expression): boolean {
  return expression.type === "call" && expression.callee === "s.raw";
}

function isImmutable({ "x-kubernetes-validations": rules = [] }: JsonSchema): boolean {
  const last = rules.at(-1);
  return last !== undefined && last.rule === "self == oldSelf" && last.message === IMMUTABLE_MESSAGE &&
    Object.keys(last).length === 2;
}

function withoutLastRule(schema: JsonSchema): JsonSchema {
  const { "x-kubernetes-validations": rules = [], ...rest } = schema;
  return rules.length < 2 ? rest : { ...rest, "x-kubernetes-validations": rules.slice(0, -1) };
}

function withoutEmptyRules(schema: JsonSchema): JsonSchema {
  const { "x-kubernetes-validations": rules = [], ...rest } = schema;
  return rules.length === 0 ? rest : schema;
}

/**
 * Moves required names without a property into `allOf`, because builders require only their own
 * properties.
 */
function withUnknownRequired(schema: JsonSchema): JsonSchema {
  const { properties = {}, required = [], allOf = [] } = schema;
  const unknown = required.filter((name) => !Object.hasOwn(properties, name));
  return unknown.length === 0 ? schema : { ...schema, allOf: [...allOf, { required: unknown }] };
}

function pathText(path: SchemaPath): string {
  return path.join(".").replaceAll(".*", "[*]");
}
