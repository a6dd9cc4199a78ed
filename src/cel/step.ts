/** Steps: the executable parts of a program (cel-go, interpreter/interpretable.go). */
import type { Tracker } from "./cost_tracker.ts";
import type { Outcome } from "./outcome.ts";
import type { Value } from "./value.ts";

/** The state of one evaluation. */
export interface Frame {
  /** The values of the variables. */
  readonly variables: Readonly<Record<string, Value>>;
  /** The values of loop variables, by slot. */
  readonly locals: (Outcome | undefined)[];
  readonly tracker: Tracker;
}

/** An executable part of a program. */
export interface Step {
  /** The id that the tracker uses. */
  readonly id: number;
  run(frame: Frame): Outcome;
}

/** A literal, or a value that was computed at plan time. */
export class ConstantStep implements Step {
  constructor(readonly id: number, readonly value: Value) {}

  run(frame: Frame): Outcome {
    frame.tracker.push(this.id, this.value);
    return this.value;
  }
}
