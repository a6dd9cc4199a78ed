/** Programs: expressions that are ready for evaluation. */
import type { Range } from "./cost.ts";
import { CostTracker } from "./cost_tracker.ts";
import { Failure } from "./outcome.ts";
import type { Plan } from "./plan.ts";
import { estimateCost } from "./static_cost.ts";
import type { Sizes } from "./static_size.ts";
import { childrenOf, type Expression } from "./syntax_tree.ts";
import type { CelType } from "./type.ts";
import { CelError, type Value } from "./value.ts";

/** Options for {@linkcode Program.evaluate}. */
export interface EvaluateOptions {
  /** The maximum cost, in cel-go's units. @default {Infinity} */
  readonly costLimit?: number;
}

/** The result of an evaluation. */
export interface Evaluation {
  readonly value: Value;
  /** The cost of the evaluation, in cel-go's units. */
  readonly cost: number;
}

/** A checked and planned expression. It is stateless and can be evaluated any number of times. */
export class Program {
  readonly #tree: Expression;
  readonly #plan: Plan;
  readonly #ids: number;

  /** Use `Environment.compile` instead. */
  constructor(tree: Expression, plan: Plan, ids: number) {
    this.#tree = tree;
    this.#plan = plan;
    this.#ids = ids;
  }

  /** The type of the result. */
  get type(): CelType {
    return this.#tree.type;
  }

  /** Returns whether the expression uses a name. */
  usesVariable(name: string): boolean {
    return uses(this.#tree, name);
  }

  /** Estimates the cost of an evaluation. */
  estimateCost(sizes?: Sizes): Range {
    return estimateCost(this.#tree, sizes);
  }

  /**
   * Evaluates the expression.
   *
   * @param variables The values of its variables.
   * @param options Additional options.
   * @throws {CelError} If the evaluation fails or exceeds the cost limit. Its `cost` is the cost
   * until then.
   */
  evaluate(variables: Readonly<Record<string, Value>>, options: EvaluateOptions = {}): Evaluation {
    const tracker = new CostTracker(this.#ids, options.costLimit ?? Infinity);
    const locals = new Array<undefined>(this.#plan.locals).fill(undefined);
    try {
      const outcome = this.#plan.root.run({ variables, locals, tracker });
      if (outcome instanceof Failure) throw new CelError(outcome.message);
      return { value: outcome, cost: tracker.cost };
    } catch (error) {
      if (error instanceof CelError) error.cost = tracker.cost;
      throw error;
    }
  }
}

function uses(node: Expression, name: string): boolean {
  if ((node.kind === "identifier" || node.kind === "select") && node.name === name) return true;
  return childrenOf(node).some((child) => uses(child, name));
}
