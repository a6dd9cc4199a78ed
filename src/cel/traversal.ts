/** Costs of reading values (cel-go, common/cost.go; k8s.io/apiserver, pkg/cel/library/cost.go). */
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "./cost.ts";
import type { CallCost, Overload } from "./function.ts";
import type { Outcome } from "./outcome.ts";
import { sizeOf } from "./runtime_type.ts";
import { List, MapValue } from "./value.ts";

/** The cost of reading a character or byte once. */
export const TRAVERSAL = 0.1;
/** The cost of a character of a pattern. About four make up one regular expression step. */
export const PATTERN = 0.25;

/** The cost of a call, and its estimate. */
export interface Costs {
  readonly cost: CallCost;
  readonly estimate: NonNullable<Overload["estimate"]>;
}

/** Returns the cost of reading a string or bytes one or more times. */
export function readingCost(value: Outcome, times: number = 1): number {
  return Math.ceil(sizeOf(value) * times * TRAVERSAL);
}

/** The costs of a function that reads its first operand once. */
export const READING: Costs = readingTimes(1);

/** Returns the costs of a function that reads its first operand several times. */
export function readingTimes(times: number): Costs {
  return {
    cost: ([text]) => readingCost(text!, times),
    estimate: ([text]) => ({ cost: scaleRange(sizeRange(text!), times * TRAVERSAL) }),
  };
}

/**
 * The costs of a function that matches its first operand against its second one, a pattern. The
 * string counts one character more, so that an expensive pattern is not free for an empty string.
 */
export const MATCHING: Costs = {
  cost: ([text, pattern]) => matchingCost(text!, sizeOf(pattern!)),
  estimate([text, pattern]) {
    const scan = scaleRange(addRanges(sizeRange(text!), exactly(1)), TRAVERSAL);
    return { cost: multiplyRanges(scan, scaleRange(sizeRange(pattern!), PATTERN)) };
  },
};

/** Returns the cost of matching a string against a pattern of a size. */
export function matchingCost(text: Outcome, patternSize: number): number {
  return Math.ceil((1 + sizeOf(text)) * TRAVERSAL) * Math.ceil(patternSize * PATTERN);
}

/**
 * Returns the cost of reading a whole value: 1 for each item or entry, or for each ten bytes of a
 * string or bytes.
 */
export function walkingCost(value: Outcome): number {
  if (typeof value === "string") return Math.floor(byteLength(value) * TRAVERSAL);
  if (value instanceof Uint8Array) return Math.floor(value.length * TRAVERSAL);
  if (value instanceof List) return value.items.reduce<number>((sum, item) => sum + walkingCost(item), 0);
  if (!(value instanceof MapValue)) return 1;
  let sum = 0;
  for (const key of value.keys()) sum += walkingCost(key) + walkingCost(value.get(key) ?? null);
  return sum;
}

/** Returns the length of a string in UTF-8 bytes. */
export function byteLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // A surrogate pair takes four bytes, two for each half.
    length += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2;
  }
  return length;
}
