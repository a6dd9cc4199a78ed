/** Macros: calls that the parser rewrites (cel-go, parser/macro.go). */
import { ACCUMULATOR, type Expression, type Identifier, type NodeFactory } from "./syntax_tree.ts";

/** A call that is rewritten when it is parsed. */
export interface Macro {
  readonly name: string;
  /** Whether it is called on something. */
  readonly isMember: boolean;
  /** How many operands it takes; with others it is a call like any. */
  readonly operands: number;
  /**
   * What the call becomes.
   *
   * @throws {MacroError} If the operands make no sense.
   */
  expand(site: MacroSite, operands: readonly Expression[], target: Expression | undefined): Expression;
}

/** The operands of a macro make no sense. */
export class MacroError extends Error {
  override name = "MacroError";
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}

/** Makes nodes at the place of a macro. */
export class MacroSite {
  constructor(readonly factory: NodeFactory, readonly offset: number) {}

  literal(value: bigint | boolean): Expression {
    return this.factory.literal(this.offset, value);
  }

  identifier(name: string): Identifier {
    return this.factory.identifier(this.offset, name);
  }

  accumulator(): Expression {
    return this.identifier(ACCUMULATOR);
  }

  list(...items: readonly Expression[]): Expression {
    return this.factory.list(this.offset, items);
  }

  map(): Expression {
    return this.factory.map(this.offset, []);
  }

  call(name: string, ...operands: readonly Expression[]): Expression {
    return this.factory.call(this.offset, name, operands);
  }

  memberCall(name: string, target: Expression, ...operands: readonly Expression[]): Expression {
    return this.factory.call(this.offset, name, operands, target);
  }

  /** The loop `accumulator = initial; for (variables in range) { if (!condition) break; accumulator = step } result`. */
  loop(range: Expression, variables: readonly string[], parts: LoopParts): Expression {
    return this.factory.comprehension(this.offset, {
      range,
      variable: variables[0]!,
      variable2: variables[1],
      accumulator: ACCUMULATOR,
      ...parts,
    });
  }

  /** `result` where a name stands for a value that is worked out when it is first needed. */
  bind(name: string, value: Expression, result: Expression): Expression {
    return this.factory.comprehension(this.offset, {
      range: this.list(),
      variable: "#unused",
      variable2: undefined,
      accumulator: name,
      initial: value,
      condition: this.literal(false),
      step: this.identifier(name),
      result,
    });
  }
}

/** What a loop does. */
export interface LoopParts {
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** A loop that is true where all of the steps are. */
export function allOf(site: MacroSite, predicate: Expression): LoopParts {
  return {
    initial: site.literal(true),
    condition: site.call("@not_strictly_false", site.accumulator()),
    step: site.call("_&&_", site.accumulator(), predicate),
    result: site.accumulator(),
  };
}

/** A loop that is true where one of the steps is, at least. */
export function someOf(site: MacroSite, predicate: Expression): LoopParts {
  return {
    initial: site.literal(false),
    condition: site.call("@not_strictly_false", site.call("!_", site.accumulator())),
    step: site.call("_||_", site.accumulator(), predicate),
    result: site.accumulator(),
  };
}

/** A loop that is true where exactly one of the steps is. */
export function oneOf(site: MacroSite, predicate: Expression): LoopParts {
  return {
    initial: site.literal(0n),
    condition: site.literal(true),
    step: site.call(
      "_?_:_",
      predicate,
      site.call("_+_", site.accumulator(), site.literal(1n)),
      site.accumulator(),
    ),
    result: site.call("_==_", site.accumulator(), site.literal(1n)),
  };
}

/** A loop that gathers; with a filter, only steps where that is true. */
export function gathered(site: MacroSite, initial: Expression, add: Expression, filter?: Expression): LoopParts {
  return {
    initial,
    condition: site.literal(true),
    step: filter === undefined ? add : site.call("_?_:_", filter, add, site.accumulator()),
    result: site.accumulator(),
  };
}

/**
 * The name that an operand introduces.
 *
 * @param operand The operand.
 * @param mistake What to say where it is no name.
 * @throws {MacroError} If it is no name, or the accumulator's.
 */
export function variableName(operand: Expression, mistake: string): string {
  if (operand.kind !== "identifier") throw new MacroError(mistake, operand.offset);
  if (operand.name === ACCUMULATOR || operand.name === "__result__") {
    throw new MacroError("iteration variable overwrites accumulator variable", operand.offset);
  }
  return operand.name;
}

/** The macros of the language. */
export const STANDARD_MACROS: readonly Macro[] = [
  { name: "has", isMember: false, operands: 1, expand: has },
  quantifier("all", allOf),
  quantifier("exists", someOf),
  quantifier("exists_one", oneOf),
  { name: "map", isMember: true, operands: 2, expand: map },
  { name: "map", isMember: true, operands: 3, expand: map },
  { name: "filter", isMember: true, operands: 2, expand: filter },
];

function has(site: MacroSite, [tested]: readonly Expression[]): Expression {
  if (tested?.kind !== "select") throw new MacroError("invalid argument to has() macro", tested!.offset);
  return site.factory.select(site.offset, tested.operand, tested.field, true);
}

function quantifier(name: string, parts: (site: MacroSite, predicate: Expression) => LoopParts): Macro {
  return {
    name,
    isMember: true,
    operands: 2,
    expand(site, [variable, predicate], target) {
      const name = variableName(variable!, "argument must be a simple name");
      return site.loop(target!, [name], parts(site, predicate!));
    },
  };
}

/** `list.map(x, value)` or `list.map(x, filter, value)`. */
export function map(site: MacroSite, operands: readonly Expression[], target: Expression | undefined): Expression {
  const name = variableName(operands[0]!, "argument is not an identifier");
  const add = site.call("_+_", site.accumulator(), site.list(operands.at(-1)!));
  return site.loop(
    target!,
    [name],
    gathered(site, site.list(), add, operands.length === 3 ? operands[1]! : undefined),
  );
}

function filter(
  site: MacroSite,
  [variable, predicate]: readonly Expression[],
  target: Expression | undefined,
): Expression {
  const name = variableName(variable!, "argument is not an identifier");
  const add = site.call("_+_", site.accumulator(), site.list(variable!));
  return site.loop(target!, [name], gathered(site, site.list(), add, predicate));
}
