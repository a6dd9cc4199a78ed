/** What looking through values costs (cel-go, common/cost.go; k8s.io/apiserver, pkg/cel/library/cost.go). */
import { addRanges, exactly, multiplyRanges, scaleRange, sizeRange } from "./cost.ts";
import type { CallCost, Overload } from "./function.ts";
import type { Outcome } from "./outcome.ts";
import { sizeOf } from "./runtime_type.ts";
import { List, MapValue } from "./value.ts";

/** For looking at a character or a byte once. */
export const TRAVERSAL = 0.1;
/** For a character of a pattern: about four make up one of its steps. */
export const PATTERN = 0.25;

/** What a call cost, and what it may cost before it is made. */
export interface Costs {
  readonly cost: CallCost;
  readonly estimate: NonNullable<Overload["estimate"]>;
}

/** What reading a text or bytes from front to end costs, or doing that more than once. */
export function readingCost(value: Outcome, times: number = 1): number {
  return Math.ceil(sizeOf(value) * times * TRAVERSAL);
}

/** Reading the first operand. */
export const READING: Costs = readingTimes(1);

/** Reading the first operand more than once. */
export function readingTimes(times: number): Costs {
  return {
    cost: ([text]) => readingCost(text!, times),
    estimate: ([text]) => ({ cost: scaleRange(sizeRange(text!), times * TRAVERSAL) }),
  };
}

/** Matching the first operand with the second one, a pattern. An empty text must not make a dear pattern free. */
export const MATCHING: Costs = {
  cost: ([text, pattern]) => matchingCost(text!, sizeOf(pattern!)),
  estimate([text, pattern]) {
    const looking = scaleRange(addRanges(sizeRange(text!), exactly(1)), TRAVERSAL);
    return { cost: multiplyRanges(looking, scaleRange(sizeRange(pattern!), PATTERN)) };
  },
};

/** What matching a text with a pattern of a size costs. */
export function matchingCost(text: Outcome, patternSize: number): number {
  return Math.ceil((1 + sizeOf(text)) * TRAVERSAL) * Math.ceil(patternSize * PATTERN);
}

/** What it costs to look at all of a value: 1 for each item or entry, of text and bytes for each ten bytes. */
export function walkingCost(value: Outcome): number {
  if (typeof value === "string") return Math.floor(byteLength(value) * TRAVERSAL);
  if (value instanceof Uint8Array) return Math.floor(value.length * TRAVERSAL);
  if (value instanceof List) return value.items.reduce<number>((sum, item) => sum + walkingCost(item), 0);
  if (!(value instanceof MapValue)) return 1;
  let sum = 0;
  for (const key of value.keys()) sum += walkingCost(key) + walkingCost(value.get(key) ?? null);
  return sum;
}

/** How many bytes a text has in UTF-8. */
export function byteLength(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    // Of four bytes each half of a pair has two.
    length += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2;
  }
  return length;
}
