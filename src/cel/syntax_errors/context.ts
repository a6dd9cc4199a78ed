/** Which calls may be open while a decision is tried out: many rows of calls at once (ANTLR's `PredictionContext`). */
import type { State } from "./network.ts";

/** Rows of states to return to, the next one first, that share their ends. */
export class Context {
  /** No call: of a decision that does not know its callers, any could be; of one that does, the end of the text follows. */
  static readonly EMPTY: Context = new Context(new Map(), true);

  /** Equal contexts have equal keys. */
  readonly key: string;

  private constructor(readonly returns: ReadonlyMap<State, Context>, readonly hasEmpty: boolean) {
    const rows = [...returns].sort(([a], [b]) => a.id - b.id).map(([state, outer]) => `${state.id}(${outer.key})`);
    this.key = `${hasEmpty ? "$" : ""}${rows.join("")}`;
  }

  get isEmpty(): boolean {
    return this.returns.size === 0;
  }

  /** With one call more. */
  called(returns: State): Context {
    return new Context(new Map([[returns, this]]), false);
  }

  /** @param isAny Whether no call stands for any: then it takes in all others. */
  joined(other: Context, isAny: boolean): Context {
    if (this.key === other.key) return this;
    if (isAny && (this.isEmpty || other.isEmpty)) return Context.EMPTY;
    const returns = new Map(this.returns);
    for (const [state, outer] of other.returns) {
      returns.set(state, returns.get(state)?.joined(outer, isAny) ?? outer);
    }
    return new Context(returns, this.hasEmpty || other.hasEmpty);
  }
}
