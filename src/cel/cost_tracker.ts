/**
 * What an evaluation costs while it runs (cel-go, interpreter/runtimecost.go). cel-go finds the operands of a call by their ids on a stack of all that was
 * worked out; where it does not find one, the call costs nothing. To agree on the cost, the stack is here too.
 */
import { Abort, type Outcome } from "./outcome.ts";

/** Counts. */
export interface Tracker {
  /** So far. */
  cost: number;
  /** Notes what a part of the expression came to. */
  push(id: number, outcome: Outcome): void;
  /** Takes a part off the stack, and all above it; nothing where it is not there. */
  drop(id: number): void;
  /** Takes operands off the stack, the last one first, and all above them; nothing where one is missing. */
  take(ids: readonly number[]): readonly Outcome[] | undefined;
}

/** Does not count: for what is known before the program runs. */
export const UNTRACKED: Tracker = {
  get cost() {
    return 0;
  },
  set cost(_) {/* nothing is counted */},
  push() {},
  drop() {},
  take: () => undefined,
};

/** Counts, up to a limit. */
export class CostTracker implements Tracker {
  cost = 0;
  readonly #limit: number;
  readonly #ids: number[] = [];
  readonly #outcomes: Outcome[] = [];
  /** Where the same id was last before, by place on the stack. Looking for one that is not there would go through all of a long loop otherwise. */
  readonly #before: number[] = [];
  /** Where an id is last; -1 where it is not. */
  readonly #last: number[];

  /**
   * @param ids How many ids there are.
   * @param limit What may not be exceeded.
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
    const place = this.#last[id]!;
    if (place >= 0) this.#truncate(place);
  }

  take(ids: readonly number[]): readonly Outcome[] | undefined {
    const outcomes: Outcome[] = new Array(ids.length);
    for (let i = ids.length - 1; i >= 0; i--) {
      const place = this.#last[ids[i]!]!;
      if (place < 0) return undefined;
      outcomes[i] = this.#outcomes[place]!;
      this.#truncate(place);
    }
    return outcomes;
  }

  #truncate(size: number): void {
    for (let place = this.#ids.length - 1; place >= size; place--) {
      this.#last[this.#ids.pop()!] = this.#before.pop()!;
      this.#outcomes.pop();
    }
  }
}
