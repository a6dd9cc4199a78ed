/**
 * Known sizes of variables, and the estimated costs of comparing them (cel-go, checker/cost.go).
 */
import { exactly, type Range, scaleRange, UNLIMITED } from "./cost.ts";
import type { SizedNode } from "./function.ts";
import type { Path } from "./path.ts";
import { sizeOf } from "./runtime_type.ts";
import type { Expression } from "./syntax_tree.ts";
import { TRAVERSAL } from "./traversal.ts";
import { type CelType, isSameType, partsOf } from "./type.ts";
import type { Value } from "./value.ts";

/** The size of a value that is not known. */
export const UNKNOWN: Range = { min: 0, max: UNLIMITED };

/** The known sizes of variables and their parts. */
export interface Sizes {
  /**
   * Returns the length of a string, or the number of entries of a list or map.
   *
   * @param path A variable and the selections from it: field names, `@items`, `@keys`, `@values`.
   * For items of a literal, the first part is `@items` instead of a variable, as in cel-go.
   * @returns The size, or `undefined` if it is unknown.
   */
  sizeOf(path: readonly string[]): Range | undefined;
}

/** An operand of a call. */
export class Operand implements SizedNode {
  readonly #path: Path;
  readonly #sizes: Sizes;

  constructor(readonly node: Expression, path: Path, readonly size: Range | undefined, sizes: Sizes) {
    this.#path = path;
    this.#sizes = sizes;
  }

  get type(): CelType {
    return this.node.type;
  }

  get literal(): Value | undefined {
    return this.node.kind === "literal" ? this.node.value : undefined;
  }

  get items(): SizedNode | undefined {
    const [type] = partsOf(this.node.type);
    if (type === undefined) return undefined;
    const size = this.#path.length === 0 ? undefined : this.#sizes.sizeOf([...this.#path.parts(), "@items"]);
    return { type, size, literal: undefined, items: undefined };
  }
}

/** Estimates the cost of comparing two operands, proportional to the shorter one. */
export function estimateComparison(a: Operand, b: Operand): Range {
  const max = Math.min((a.size ?? UNKNOWN).max, (b.size ?? UNKNOWN).max);
  return scaleRange({ min: max > 0 ? 1 : 0, max }, TRAVERSAL);
}

/** Estimates the cost of `==` if a library defines it for the type. */
export function estimateLibraryEquality(a: Operand, b: Operand): Range | undefined {
  if (a.type.kind !== "opaque" || !isSameType(a.type, b.type)) return undefined;
  return a.type.estimateEquality === undefined ? exactly(1) : a.type.estimateEquality(a.size, b.size);
}

/** Returns the size of a literal. */
export function literalSize(node: Expression): Range | undefined {
  switch (node.kind) {
    case "literal":
      return exactly(sizeOf(node.value));
    case "list":
      return exactly(node.items.length);
    case "map":
      return exactly(node.entries.length);
    default:
      return undefined;
  }
}

/** Returns whether all values of a type have size 1. */
export function isScalar(type: CelType): boolean {
  if (type.kind === "optional") return isScalar(type.of);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}
