/** Bounds of costs and sizes, as cel-go's checker counts them (checker/cost.go): whole numbers that stop at the largest. */

/** Where 64 bits end: what is larger counts as this. */
export const UNLIMITED = 2 ** 64 - 1;

/** From least to most, both in. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** The sum of two ranges. */
export function addRanges(a: Range, b: Range): Range {
  return { min: capped(a.min + b.min), max: capped(a.max + b.max) };
}

/** The product of two ranges. */
export function multiplyRanges(a: Range, b: Range): Range {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

/** A range by a factor per unit, rounded up: as 0.1 for each character that is looked at. */
export function scaleRange(range: Range, factor: number): Range {
  return { min: capped(Math.ceil(range.min * factor)), max: capped(Math.ceil(range.max * factor)) };
}

/** The range that holds both. */
export function joinRanges(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

function capped(value: number): number {
  return Math.min(value, UNLIMITED);
}

/** The size of a node, or all that can be where nothing is known of it. */
export function sizeRange(node: { readonly size: Range | undefined }): Range {
  return node.size ?? { min: 0, max: UNLIMITED };
}

/** A range of one number. */
export function exactly(value: number): Range {
  return { min: value, max: value };
}
