/** TypeScript expressions as data, which can be printed and evaluated. */
import { s } from "@op/sdk";

/** A JSON value. */
export interface LiteralExpression {
  readonly type: "literal";
  readonly value: string | number | boolean | null;
  /** Whether it is prose, which may be split over several lines. */
  readonly prose?: true;
}

/** `[a, b]` */
export interface ListExpression {
  readonly type: "list";
  readonly items: readonly Expression[];
}

/** `{ ...base, a: 1, b }` */
export interface RecordExpression {
  readonly type: "record";
  /** The name of a record to spread before the entries. */
  readonly spread?: string;
  readonly entries: readonly (readonly [key: string, value: Expression])[];
}

/** `callee(a, b)` */
export interface CallExpression {
  readonly type: "call";
  readonly callee: string;
  readonly args: readonly Expression[];
}

/** A name declared or imported elsewhere. */
export interface NameExpression {
  readonly type: "name";
  readonly name: string;
}

/** An expression. */
export type Expression = LiteralExpression | ListExpression | RecordExpression | CallExpression | NameExpression;

/** Returns a name. */
export function nameOf(name: string): NameExpression {
  return { type: "name", name };
}

/** Returns a call. */
export function call(callee: string, ...args: readonly Expression[]): CallExpression {
  return { type: "call", callee, args };
}

/** Returns an object literal. Entries whose value is `undefined` are omitted. */
export function record(entries: { readonly [key: string]: Expression | undefined }): RecordExpression {
  return {
    type: "record",
    entries: Object.entries(entries).filter((entry): entry is [string, Expression] => entry[1] !== undefined),
  };
}

/** Returns prose. */
export function prose(value: string): LiteralExpression {
  return { type: "literal", value, prose: true };
}

/** Returns a JSON value as an expression. */
export function literal(value: unknown): Expression {
  if (Array.isArray(value)) return { type: "list", items: value.map(literal) };
  if (typeof value === "object" && value !== null) {
    return { type: "record", entries: Object.entries(value).map(([key, item]) => [key, literal(item)] as const) };
  }
  return { type: "literal", value: value as string | number | boolean | null };
}

/** Returns the distinct names in an expression, in order of occurrence. */
export function namesIn(expression: Expression, found: Set<string> = new Set()): Set<string> {
  switch (expression.type) {
    case "name":
      found.add(expression.name);
      break;
    case "call":
      for (const arg of expression.args) namesIn(arg, found);
      break;
    case "list":
      for (const item of expression.items) namesIn(item, found);
      break;
    case "record":
      if (expression.spread !== undefined) found.add(expression.spread);
      for (const [, value] of expression.entries) namesIn(value, found);
  }
  return found;
}

/** Schema builders by the name with which modules call them, such as `s.string`. */
const BUILDERS: ReadonlyMap<string, (...args: unknown[]) => unknown> = new Map(
  Object.entries(s).map(([name, builder]) => [`s.${name}`, builder as (...args: unknown[]) => unknown]),
);

/** Evaluates expressions. The same expression object always has the same value. */
export class Evaluation {
  readonly #values = new WeakMap<Expression, unknown>();
  readonly #names = new Map<string, unknown>();
  readonly #functions: ReadonlyMap<string, (...args: never[]) => unknown>;

  /** @param functions Functions that may be called in addition to the builders of schemas. */
  constructor(functions: { readonly [callee: string]: (...args: never[]) => unknown } = {}) {
    this.#functions = new Map([...BUILDERS, ...Object.entries(functions)]);
  }

  /** Defines a name. */
  declare(name: string, value: unknown): void {
    this.#names.set(name, value);
  }

  /**
   * Returns the value of an expression.
   *
   * @throws {Error} If a function in it throws, or a name is not defined.
   */
  valueOf(expression: Expression): unknown {
    if (expression.type === "literal") return expression.value;
    if (expression.type === "name") {
      if (this.#names.has(expression.name)) return this.#names.get(expression.name);
      throw new ReferenceError(`Cannot evaluate "${expression.name}": the name is not defined`);
    }
    if (this.#values.has(expression)) return this.#values.get(expression);
    const value = this.#evaluate(expression);
    this.#values.set(expression, value);
    return value;
  }

  #evaluate(expression: ListExpression | RecordExpression | CallExpression): unknown {
    if (expression.type === "list") return expression.items.map((item) => this.valueOf(item));
    if (expression.type === "record") {
      const own = Object.fromEntries(expression.entries.map(([key, value]) => [key, this.valueOf(value)]));
      return expression.spread === undefined ? own : { ...this.valueOf(nameOf(expression.spread)) as object, ...own };
    }
    const callee = this.#functions.get(expression.callee);
    if (callee === undefined) {
      throw new ReferenceError(`Cannot call "${expression.callee}": the function is not defined`);
    }
    return callee(...expression.args.map((arg) => this.valueOf(arg)) as never[]);
  }
}

/**
 * Returns an expression with other names.
 *
 * @param expression The expression, which is not changed.
 * @param nameFor Returns the replacement of a name.
 */
export function renamed(expression: Expression, nameFor: (name: string) => string): Expression {
  const inner = (part: Expression) => renamed(part, nameFor);
  switch (expression.type) {
    case "literal":
      return expression;
    case "name":
      return nameOf(nameFor(expression.name));
    case "list":
      return { type: "list", items: expression.items.map(inner) };
    case "record":
      return {
        type: "record",
        ...(expression.spread !== undefined && { spread: nameFor(expression.spread) }),
        entries: expression.entries.map(([key, value]) => [key, inner(value)] as const),
      };
    case "call":
      return { type: "call", callee: expression.callee, args: expression.args.map(inner) };
  }
}

/** Returns whether an expression calls a builder of schemas. */
export function usesBuilders(expression: Expression): boolean {
  switch (expression.type) {
    case "call":
      return expression.callee.startsWith("s.") || expression.args.some(usesBuilders);
    case "list":
      return expression.items.some(usesBuilders);
    case "record":
      return expression.entries.some(([, value]) => usesBuilders(value));
    default:
      return false;
  }
}
