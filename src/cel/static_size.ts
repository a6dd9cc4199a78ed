/** What is known of sizes before there are values, and what comparing values of such sizes may cost (cel-go, checker/cost.go). */
import { exactly, type Range, scaleRange, UNLIMITED } from "./cost.ts";
import type { SizedNode } from "./function.ts";
import type { Path } from "./path.ts";
import { sizeOf } from "./runtime_type.ts";
import type { Expression } from "./syntax_tree.ts";
import { TRAVERSAL } from "./traversal.ts";
import { type CelType, isSameType, partsOf } from "./type.ts";
import type { Value } from "./value.ts";

/** The size of what nothing is known of. */
export const UNKNOWN: Range = { min: 0, max: UNLIMITED };

/** What is known of the sizes of variables and of what is in them. */
export interface Sizes {
  /**
   * How long a text may be, or how many entries a list or a map may have.
   *
   * @param path A variable, and what is selected from it: names of fields, `@items`, `@keys`, `@values`. As cel-go has it, the first part is no variable where
   * it is about the items of a literal: then it is `@items`, and cel-go's users take it for one.
   * @returns Nothing where nothing is known.
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

/** What an order or an equality of two operands may cost: as much as the shorter one. */
export function comparisonOf(a: Operand, b: Operand): Range {
  const max = Math.min((a.size ?? UNKNOWN).max, (b.size ?? UNKNOWN).max);
  return scaleRange({ min: max > 0 ? 1 : 0, max }, TRAVERSAL);
}

/** What `==` may cost where a library says it of its values. */
export function equalityOf(a: Operand, b: Operand): Range | undefined {
  if (a.type.kind !== "opaque" || !isSameType(a.type, b.type)) return undefined;
  return a.type.estimateEquality === undefined ? exactly(1) : a.type.estimateEquality(a.size, b.size);
}

/** The size of what stands in the expression. */
export function writtenSize(node: Expression): Range | undefined {
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

/** Whether all values of a type are of size 1. */
export function isScalar(type: CelType): boolean {
  if (type.kind === "optional") return isScalar(type.of);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}
