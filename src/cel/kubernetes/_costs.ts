/** What functions of Kubernetes cost, where many cost the same (`k8s.io/apiserver/pkg/cel/library/cost.go`). */
import { scaleRange, sizeRange } from "../cost.ts";
import type { Overload } from "../library.ts";
import { sizeOf } from "../runtime_type.ts";

/** What a call costs: 1 where nothing is said. */
export type Costs = Pick<Overload, "cost" | "estimate">;

/** For looking at a character or a byte once. */
export const TRAVERSAL = 0.1;
/** For a character of a pattern: about four make up one of its steps. */
export const PATTERN = 0.25;

/** Reading the first operand, a text, from front to end. */
export const READING: Required<Costs> = readingTimes(1);

/** Reading the first operand, a text, more than once. */
export function readingTimes(times: number): Required<Costs> {
  return {
    cost: ([text]) => Math.ceil(sizeOf(text!) * times * TRAVERSAL),
    estimate: ([text]) => ({ cost: scaleRange(sizeRange(text!), times * TRAVERSAL) }),
  };
}
