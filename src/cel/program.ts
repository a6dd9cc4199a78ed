/** Expressions ready to be evaluated. */
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
  /** What the evaluation may cost. @default {Infinity} */
  readonly costLimit?: number;
}

/** What an evaluation came to. */
export interface Evaluation {
  readonly value: Value;
  /** What it cost, in cel-go's units. */
  readonly cost: number;
}

/** An expression, checked and planned. It keeps nothing of its evaluations. */
export class Program {
  readonly #tree: Expression;
  readonly #plan: Plan;
  readonly #ids: number;

  /** Made by an environment. */
  constructor(tree: Expression, plan: Plan, ids: number) {
    this.#tree = tree;
    this.#plan = plan;
    this.#ids = ids;
  }

  /** The type of the result. */
  get type(): CelType {
    return this.#tree.type;
  }

  /** Whether a name is used in the expression. */
  usesVariable(name: string): boolean {
    return uses(this.#tree, name);
  }

  /** What an evaluation may cost, from least to most. */
  estimateCost(sizes?: Sizes): Range {
    return estimateCost(this.#tree, sizes);
  }

  /**
   * Evaluates the expression.
   *
   * @param variables What its variables stand for.
   * @param options Additional options.
   * @throws {CelError} If there is no value, or it costs too much; its `cost` tells what was spent.
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
