/** Syntax trees after parsing and macro expansion. The checker stores its results in the nodes. */
import { type CelType, ERROR } from "./type.ts";
import type { Overload } from "./function.ts";
import type { Value } from "./value.ts";

/** A node. */
export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | StructLiteral
  | Comprehension
  | Broken;

interface Node {
  /** Unique in its tree. */
  readonly id: number;
  /** The start, in UTF-16 units from the start of the expression. */
  readonly offset: number;
  /** Set by the checker. */
  type: CelType;
}

export interface Literal extends Node {
  readonly kind: "literal";
  readonly value: Value;
}

export interface Identifier extends Node {
  readonly kind: "identifier";
  /** After checking, the declared name. A leading dot in the expression is retained. */
  name: string;
  /** Set by the checker if the name stands for a value. */
  constant?: Value;
}

/** `operand.field`, or `has(operand.field)`. */
export interface Select extends Node {
  readonly kind: "select";
  readonly operand: Expression;
  readonly field: string;
  readonly isTest: boolean;
  /** Set by the checker if `a.b` is one name rather than a field. */
  name?: string;
  constant?: Value;
}

export interface Call extends Node {
  readonly kind: "call";
  /** The declared name; `_+_` and the like for operators. */
  name: string;
  /**
   * The receiver. The checker removes it if it is part of the name, as in `sets.contains(a, b)`.
   */
  target: Expression | undefined;
  readonly operands: readonly Expression[];
  /** Set by the checker: the overloads that remain if types are known only at run time. */
  overloads: readonly Overload[];
}

export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly items: readonly Expression[];
  /** The indexes of the items that are `?item`. */
  readonly optionals: readonly number[];
}

export interface MapLiteral extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}

export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  readonly isOptional: boolean;
}

export interface StructLiteral extends Node {
  readonly kind: "struct";
  name: string;
  readonly fields: readonly StructField[];
}

export interface StructField {
  readonly offset: number;
  readonly name: string;
  readonly value: Expression;
  readonly isOptional: boolean;
}

/** A loop that folds a list or map into one value. Macros such as `all` expand to it. */
export interface Comprehension extends Node {
  readonly kind: "comprehension";
  readonly range: Expression;
  readonly variable: string;
  /** If set, `variable` is the index or key, and this is the item or value. */
  readonly variable2: string | undefined;
  readonly accumulator: string;
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** A placeholder for an invalid part, so that the rest can be parsed. */
export interface Broken extends Node {
  readonly kind: "broken";
}

/** The name of the accumulator of macros. User identifiers cannot have it. */
export const ACCUMULATOR = "@result";

/** Creates nodes with unique ids. */
export class NodeFactory {
  #next = 1;

  /** The number of ids, including 0. */
  get size(): number {
    return this.#next;
  }

  literal(offset: number, value: Value): Literal {
    return { ...this.#node(offset), kind: "literal", value };
  }

  identifier(offset: number, name: string): Identifier {
    return { ...this.#node(offset), kind: "identifier", name };
  }

  select(offset: number, operand: Expression, field: string, isTest = false): Select {
    return { ...this.#node(offset), kind: "select", operand, field, isTest };
  }

  call(offset: number, name: string, operands: readonly Expression[], target?: Expression): Call {
    return { ...this.#node(offset), kind: "call", name, target, operands, overloads: [] };
  }

  list(offset: number, items: readonly Expression[], optionals: readonly number[] = []): ListLiteral {
    return { ...this.#node(offset), kind: "list", items, optionals };
  }

  map(offset: number, entries: readonly MapEntry[]): MapLiteral {
    return { ...this.#node(offset), kind: "map", entries };
  }

  struct(offset: number, name: string, fields: readonly StructField[]): StructLiteral {
    return { ...this.#node(offset), kind: "struct", name, fields };
  }

  comprehension(offset: number, parts: Omit<Comprehension, keyof Node | "kind">): Comprehension {
    return { ...this.#node(offset), kind: "comprehension", ...parts };
  }

  broken(offset: number): Broken {
    return { ...this.#node(offset), kind: "broken" };
  }

  /** Returns a copy of an expression with new ids. */
  copy(node: Expression): Expression {
    const { id: _, ...rest } = node;
    const id = this.#next++;
    switch (rest.kind) {
      case "select":
        return { ...rest, id, operand: this.copy(rest.operand) };
      case "call":
        return {
          ...rest,
          id,
          target: rest.target && this.copy(rest.target),
          operands: rest.operands.map((operand) => this.copy(operand)),
        };
      case "list":
        return { ...rest, id, items: rest.items.map((item) => this.copy(item)) };
      case "map":
        return {
          ...rest,
          id,
          entries: rest.entries.map((entry) => ({
            ...entry,
            key: this.copy(entry.key),
            value: this.copy(entry.value),
          })),
        };
      case "struct":
        return { ...rest, id, fields: rest.fields.map((field) => ({ ...field, value: this.copy(field.value) })) };
      case "comprehension":
        return {
          ...rest,
          id,
          range: this.copy(rest.range),
          initial: this.copy(rest.initial),
          condition: this.copy(rest.condition),
          step: this.copy(rest.step),
          result: this.copy(rest.result),
        };
      default:
        return { ...rest, id };
    }
  }

  #node(offset: number): Node {
    return { id: this.#next++, offset, type: ERROR };
  }
}

/**
 * Returns the dotted name that a chain of identifiers and fields spells, or `undefined` for other
 * expressions.
 */
export function qualifiedName(node: Expression): string | undefined {
  if (node.kind === "identifier") return node.name;
  if (node.kind !== "select" || node.isTest) return undefined;
  const prefix = qualifiedName(node.operand);
  return prefix === undefined ? undefined : `${prefix}.${node.field}`;
}

/** Returns the direct subexpressions in the order of the text. */
export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "select":
      return [node.operand];
    case "call":
      return node.target === undefined ? node.operands : [node.target, ...node.operands];
    case "list":
      return node.items;
    case "map":
      return node.entries.flatMap((entry) => [entry.key, entry.value]);
    case "struct":
      return node.fields.map((field) => field.value);
    case "comprehension":
      return [node.range, node.initial, node.condition, node.step, node.result];
    default:
      return [];
  }
}
