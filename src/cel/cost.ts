/**
 * Ranges of costs and sizes, as cel-go's checker computes them (checker/cost.go): integers that
 * saturate at the largest uint64.
 */

/** The largest uint64. It replaces larger values. */
export const UNLIMITED = 2 ** 64 - 1;

/** An inclusive range. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Adds two ranges. */
export function addRanges(a: Range, b: Range): Range {
  return { min: limitCost(a.min + b.min), max: limitCost(a.max + b.max) };
}

/** Multiplies two ranges. */
export function multiplyRanges(a: Range, b: Range): Range {
  return { min: limitCost(a.min * b.min), max: limitCost(a.max * b.max) };
}

/** Multiplies a range by a factor per unit and rounds up, such as 0.1 for each character read. */
export function scaleRange(range: Range, factor: number): Range {
  return { min: limitCost(Math.ceil(range.min * factor)), max: limitCost(Math.ceil(range.max * factor)) };
}

/** Returns the smallest range that contains both. */
export function joinRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

function limitCost(value: number): number {
  return Math.min(value, UNLIMITED);
}

/** Returns the size of a node, or the full range if it is unknown. */
export function sizeRange(node: { readonly size: Range | undefined }): Range {
  return node.size ?? { min: 0, max: UNLIMITED };
}

/** Returns a range of one number. */
export function exactly(value: number): Range {
  return { min: value, max: value };
}
