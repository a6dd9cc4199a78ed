/** Loops (cel-go, interpreter/interpretable.go, `evalFold`). */
import { goTypeOf } from "./go_type.ts";
import { EntryMap } from "./map_value.ts";
import { attempt, Failure, type Outcome } from "./outcome.ts";
import type { Frame, Step } from "./step.ts";
import { List, MapValue, type Value } from "./value.ts";

/** A list that a loop builds. Items are appended in place. */
export class LoopList extends List {
  declare readonly items: Value[];

  constructor() {
    super([]);
  }
}

/** A map that a loop builds. */
export class LoopMap extends EntryMap {}

/** The parts of a loop. */
export interface FoldParts {
  readonly range: Step;
  /** Evaluates the first value of the accumulator. */
  readonly initial: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
}

/** The slots of a loop's variables. */
export interface FoldSlots {
  readonly accumulator: number;
  readonly variable: number;
  /** The second variable, if the loop has one. */
  readonly variable2: number | undefined;
}

/**
 * Folds a list or map into one value. If an entry cannot be read, only the steps that use it fail.
 */
export class FoldStep implements Step {
  /** Set once after construction, because the parts refer to the loop. */
  parts!: FoldParts;

  constructor(readonly id: number, readonly slots: FoldSlots) {}

  run(frame: Frame): Outcome {
    const range = this.parts.range.run(frame);
    const outcome = range instanceof Failure ? range : this.#fold(frame, range);
    frame.tracker.drop(this.parts.range.id);
    frame.tracker.push(this.id, outcome);
    return outcome;
  }

  /**
   * Initializes the accumulator. An empty list or map is replaced by one that the loop can extend
   * without copying.
   */
  begin(frame: Frame): Outcome {
    let initial = this.parts.initial.run(frame);
    if (initial instanceof List && initial.items.length === 0) initial = new LoopList();
    else if (initial instanceof MapValue && initial.size === 0) initial = new LoopMap();
    return frame.locals[this.slots.accumulator] = initial;
  }

  #fold(frame: Frame, range: Value): Outcome {
    frame.locals[this.slots.accumulator] = undefined;
    const failure = this.slots.variable2 === undefined
      ? this.#foldOne(frame, range)
      : this.#foldTwo(frame, range, this.slots.variable2);
    if (failure !== undefined) return failure;
    const result = this.parts.result.run(frame);
    if (result instanceof LoopList) return new List(result.items);
    return result;
  }

  #foldOne(frame: Frame, range: Value): Failure | undefined {
    const isMap = range instanceof MapValue;
    if (!isMap && !(range instanceof List)) {
      return new Failure(`got '${goTypeOf(range)}', expected iterable type`);
    }
    if (isMap) {
      for (const key of range.keys()) {
        frame.locals[this.slots.variable] = key;
        if (!this.#iterate(frame)) break;
      }
      return undefined;
    }
    for (let i = 0; i < range.items.length; i++) {
      frame.locals[this.slots.variable] = attempt(() => range.items[i]!);
      if (!this.#iterate(frame)) break;
    }
    return undefined;
  }

  #foldTwo(frame: Frame, range: Value, second: number): Failure | undefined {
    const { variable } = this.slots;
    if (range instanceof List) {
      for (let i = 0; i < range.items.length; i++) {
        frame.locals[variable] = BigInt(i);
        frame.locals[second] = attempt(() => range.items[i]!);
        if (!this.#iterate(frame)) break;
      }
      return undefined;
    }
    if (!(range instanceof MapValue)) {
      return new Failure(`unsupported comprehension range type: ${goTypeOf(range)}`);
    }
    for (const key of range.keys()) {
      frame.locals[variable] = key;
      frame.locals[second] = attempt(() => range.get(key) ?? null);
      if (!this.#iterate(frame)) break;
    }
    return undefined;
  }

  /**
   * Evaluates one iteration and returns whether the loop continues. A condition that fails with an
   * error does not end the loop.
   */
  #iterate(frame: Frame): boolean {
    if (this.parts.condition.run(frame) === false) return false;
    frame.locals[this.slots.accumulator] = this.parts.step.run(frame);
    return true;
  }
}
