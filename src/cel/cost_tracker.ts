/**
 * Tracks the cost of a running evaluation (cel-go, interpreter/runtimecost.go). cel-go looks up the
 * operands of a call by id on a stack of all results; a call whose operands it does not find is
 * free. The same stack is used here to get the same costs.
 */
import { Abort, type Outcome } from "./outcome.ts";

/** Tracks the cost of an evaluation. */
export interface Tracker {
  /** The cost so far. */
  cost: number;
  /** Records the result of a part of the expression. */
  push(id: number, outcome: Outcome): void;
  /**
   * Removes a result and all above it from the stack. Has no effect if the stack does not contain
   * it.
   */
  drop(id: number): void;
  /**
   * Removes operands, last one first, and all results above them. Returns `undefined` if one is
   * missing.
   */
  take(ids: readonly number[]): readonly Outcome[] | undefined;
}

/** Tracks no cost. It is used for evaluations at plan time. */
export const UNTRACKED: Tracker = {
  get cost() {
    return 0;
  },
  set cost(_) {/* no cost is tracked */},
  push() {},
  drop() {},
  take: () => undefined,
};

/** Tracks the cost up to a limit. */
export class CostTracker implements Tracker {
  cost = 0;
  readonly #limit: number;
  readonly #ids: number[] = [];
  readonly #outcomes: Outcome[] = [];
  /**
   * The previous index of the same id, by index on the stack. Without it, a failed lookup would
   * scan the whole stack of a long loop.
   */
  readonly #before: number[] = [];
  /** The last index of each id; -1 if it is not on the stack. */
  readonly #last: number[];

  /**
   * @param ids The number of node ids in the expression.
   * @param limit The maximum cost.
   */
  constructor(ids: number, limit: number) {
    this.#last = new Array<number>(ids).fill(-1);
    this.#limit = limit;
  }

  push(id: number, outcome: Outcome): void {
    this.#before.push(this.#last[id]!);
    this.#last[id] = this.#ids.length;
    this.#ids.push(id);
    this.#outcomes.push(outcome);
    if (this.cost > this.#limit) throw new Abort("operation cancelled: actual cost limit exceeded");
  }

  drop(id: number): void {
    const index = this.#last[id]!;
    if (index >= 0) this.#truncate(index);
  }

  take(ids: readonly number[]): readonly Outcome[] | undefined {
    const outcomes: Outcome[] = new Array(ids.length);
    for (let i = ids.length - 1; i >= 0; i--) {
      const index = this.#last[ids[i]!]!;
      if (index < 0) return undefined;
      outcomes[i] = this.#outcomes[index]!;
      this.#truncate(index);
    }
    return outcomes;
  }

  #truncate(size: number): void {
    for (let index = this.#ids.length - 1; index >= size; index--) {
      this.#last[this.#ids.pop()!] = this.#before.pop()!;
      this.#outcomes.pop();
    }
  }
}
