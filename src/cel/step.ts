/** The parts of a program: what expressions become to be evaluated (cel-go, interpreter/interpretable.go). */
import type { Tracker } from "./cost_tracker.ts";
import type { Outcome } from "./outcome.ts";
import type { Value } from "./value.ts";

/** One evaluation. */
export interface Frame {
  /** What variables stand for. */
  readonly variables: Readonly<Record<string, Value>>;
  /** What names stand for that loops introduce, by the places that the plan gave them. */
  readonly locals: (Outcome | undefined)[];
  readonly tracker: Tracker;
}

/** A part of a program. */
export interface Step {
  /** Under which the tracker knows it. */
  readonly id: number;
  run(frame: Frame): Outcome;
}

/** A value that stands in the expression, or that is known before it runs. */
export class ConstantStep implements Step {
  constructor(readonly id: number, readonly value: Value) {}

  run(frame: Frame): Outcome {
    frame.tracker.push(this.id, this.value);
    return this.value;
  }
}
