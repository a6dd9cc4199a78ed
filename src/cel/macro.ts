/** Macros: calls that the parser rewrites (cel-go, parser/macro.go). */
import { ACCUMULATOR, type Expression, type Identifier, type NodeFactory } from "./syntax_tree.ts";

/** A call that the parser rewrites. */
export interface Macro {
  readonly name: string;
  /** Whether it has a receiver. */
  readonly isMember: boolean;
  /** The number of operands. A call with another number is an ordinary call. */
  readonly operands: number;
  /**
   * Returns the expression that replaces the call.
   *
   * @throws {MacroError} If the operands are invalid.
   */
  expand(site: MacroSite, operands: readonly Expression[], target: Expression | undefined): Expression;
}

/** Thrown if the operands of a macro are invalid. */
export class MacroError extends Error {
  override name = "MacroError";
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}

/** Creates nodes at the position of a macro. */
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

  /**
   * Returns a loop:
   *
   * ```text
   * accumulator = initial
   * for (variables in range) { if (!condition) break; accumulator = step }
   * result
   * ```
   */
  loop(range: Expression, variables: readonly string[], parts: LoopParts): Expression {
    return this.factory.comprehension(this.offset, {
      range,
      variable: variables[0]!,
      variable2: variables[1],
      accumulator: ACCUMULATOR,
      ...parts,
    });
  }

  /** Returns `result` with a name bound to a value that is evaluated on first use. */
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

/** The parts of a loop. */
export interface LoopParts {
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** A loop that is true if all steps are true. */
export function allOf(site: MacroSite, predicate: Expression): LoopParts {
  return {
    initial: site.literal(true),
    condition: site.call("@not_strictly_false", site.accumulator()),
    step: site.call("_&&_", site.accumulator(), predicate),
    result: site.accumulator(),
  };
}

/** A loop that is true if at least one step is true. */
export function someOf(site: MacroSite, predicate: Expression): LoopParts {
  return {
    initial: site.literal(false),
    condition: site.call("@not_strictly_false", site.call("!_", site.accumulator())),
    step: site.call("_||_", site.accumulator(), predicate),
    result: site.accumulator(),
  };
}

/** A loop that is true if exactly one step is true. */
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

/** A loop that collects items, optionally only those for which the filter is true. */
export function collect(site: MacroSite, initial: Expression, add: Expression, filter?: Expression): LoopParts {
  return {
    initial,
    condition: site.literal(true),
    step: filter === undefined ? add : site.call("_?_:_", filter, add, site.accumulator()),
    result: site.accumulator(),
  };
}

/**
 * Returns the name of the variable that an operand declares.
 *
 * @param operand The operand.
 * @param errorMessage The message if the operand is not a name.
 * @throws {MacroError} If it is not a name, or is the accumulator's name.
 */
export function variableName(operand: Expression, errorMessage: string): string {
  if (operand.kind !== "identifier") throw new MacroError(errorMessage, operand.offset);
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
    collect(site, site.list(), add, operands.length === 3 ? operands[1]! : undefined),
  );
}

function filter(
  site: MacroSite,
  [variable, predicate]: readonly Expression[],
  target: Expression | undefined,
): Expression {
  const name = variableName(variable!, "argument is not an identifier");
  const add = site.call("_+_", site.accumulator(), site.list(variable!));
  return site.loop(target!, [name], collect(site, site.list(), add, predicate));
}
