/** Estimates the cost of evaluating an expression without values (cel-go, checker/cost.go). */
import { addRanges, exactly, joinRanges, multiplyRanges, type Range, scaleRange, UNLIMITED } from "./cost.ts";
import { LIST_COST, MAP_COST } from "./call.ts";
import type { CallEstimate, Overload } from "./function.ts";
import { Path } from "./path.ts";
import {
  estimateComparison,
  estimateLibraryEquality,
  isScalar,
  literalSize,
  Operand,
  type Sizes,
  UNKNOWN,
} from "./static_size.ts";
import {
  ACCUMULATOR,
  type Call,
  type Comprehension,
  type Expression,
  type Identifier,
  type ListLiteral,
  type MapLiteral,
  type Select,
} from "./syntax_tree.ts";
import { TRAVERSAL } from "./traversal.ts";

const NO_SIZES: Sizes = { sizeOf: () => undefined };
const FREE: Range = exactly(0);
const ONE: Range = exactly(1);

/**
 * Estimates the cost of an expression.
 *
 * @param root The checked tree.
 * @param sizes The known sizes of its variables.
 */
export function estimateCost(root: Expression, sizes: Sizes = NO_SIZES): Range {
  return new Estimator(sizes).cost(root);
}

/** The sizes of the entries of a list or map. */
interface EntrySizes {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

/** The value of a loop variable. */
interface Local {
  readonly path: Path;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

class Estimator {
  readonly #sizes: Sizes;
  readonly #paths = new Map<number, Path>();
  readonly #locals = new Map<string, Local[]>();
  readonly #computed = new Map<number, Range>();
  readonly #entries = new Map<number, EntrySizes>();

  constructor(sizes: Sizes) {
    this.#sizes = sizes;
  }

  cost(node: Expression): Range {
    switch (node.kind) {
      case "identifier":
        return this.#identifier(node);
      case "select":
        return this.#select(node);
      case "call":
        return this.#call(node);
      case "list":
        return this.#list(node);
      case "map":
        return this.#map(node);
      case "comprehension":
        return isBind(node) ? this.#bind(node) : this.#comprehension(node);
      default:
        return FREE;
    }
  }

  #identifier(node: Identifier): Range {
    this.#paths.set(node.id, this.#local(node.name)?.path ?? Path.of(node.name));
    return ONE;
  }

  #select(node: Select): Range {
    if (node.name !== undefined) {
      this.#paths.set(node.id, Path.of(node.name));
      return ONE;
    }
    const operand = this.cost(node.operand);
    if (node.isTest) return operand;
    const { kind } = node.operand.type;
    this.#paths.set(node.id, this.#pathOf(node.operand).append(node.field));
    return kind === "map" || kind === "object" || kind === "parameter" ? addRanges(operand, ONE) : operand;
  }

  #call(node: Call): Range {
    if (node.name === "dyn") return this.#dyn(node);
    const costs: Range[] = [];
    const operands: Operand[] = [];
    for (const operand of node.operands) {
      costs.push(this.cost(operand));
      operands.push(this.#operand(operand));
    }
    if (node.overloads.length === 0) return FREE;
    let receiver = FREE;
    let target: Operand | undefined;
    if (node.target !== undefined) {
      receiver = this.cost(node.target);
      target = this.#operand(node.target);
    }
    let cost: Range = { min: UNLIMITED, max: 0 };
    let result: Range | undefined;
    for (const overload of node.overloads) {
      const estimate = this.#estimate(node, overload, target, operands, costs);
      cost = joinRanges(cost, estimate.cost);
      if (estimate.resultSize !== undefined) {
        result = result === undefined ? estimate.resultSize : joinRanges(result, estimate.resultSize);
      }
      const step = ENTRIES[overload.id];
      if (step !== undefined) {
        result = this.#entriesOf(node.operands[0]!)?.value;
        this.#paths.set(node.id, this.#pathOf(node.operands[0]!).append(step));
      }
      result ??= this.#size(node);
    }
    if (result !== undefined) this.#computed.set(node.id, result);
    return addRanges(receiver, cost);
  }

  /** `dyn` affects only the checker, so known sizes are retained. */
  #dyn(node: Call): Range {
    const operand = node.operands[0]!;
    const cost = this.cost(operand);
    this.#copySizes(node, operand);
    return addRanges(ONE, cost);
  }

  #estimate(
    node: Call,
    overload: Overload,
    target: Operand | undefined,
    operands: readonly Operand[],
    costs: readonly Range[],
  ): CallEstimate {
    const sum = costs.reduce(addRanges, FREE);
    if (overload.estimate !== undefined) {
      const estimate = overload.estimate(target === undefined ? operands : [target, ...operands]);
      return { ...estimate, cost: addRanges(estimate.cost, sum) };
    }
    const [a, b, c] = operands;
    switch (overload.id) {
      case "logical_or":
      case "logical_and":
        // The second operand might not be evaluated.
        return { cost: { min: costs[0]!.min, max: sum.max } };
      case "conditional": {
        const entries = joinEntries(this.#entriesOf(b!.node), this.#entriesOf(c!.node));
        if (entries !== undefined) this.#entries.set(node.id, entries);
        return {
          cost: addRanges(costs[0]!, joinRanges(costs[1]!, costs[2]!)),
          resultSize: joinRanges(b!.size ?? UNKNOWN, c!.size ?? UNKNOWN),
        };
      }
      case "add_string":
      case "add_bytes":
      case "add_list": {
        const size = addRanges(a!.size ?? UNKNOWN, b!.size ?? UNKNOWN);
        const entries = joinEntries(this.#entriesOf(a!.node), this.#entriesOf(b!.node));
        if (entries !== undefined) this.#entries.set(node.id, entries);
        const cost = overload.id === "add_list" ? ONE : scaleRange(size, TRAVERSAL);
        return { cost: addRanges(cost, sum), resultSize: size };
      }
      case "in_list":
        return { cost: addRanges(scaleRange(b!.size ?? UNKNOWN, 1), sum) };
      case "equals":
        return { cost: addRanges(estimateLibraryEquality(a!, b!) ?? estimateComparison(a!, b!), sum) };
      case "not_equals":
        return { cost: addRanges(estimateComparison(a!, b!), sum) };
    }
    return { cost: addRanges(COMPARISON.test(overload.id) ? estimateComparison(a!, b!) : ONE, sum) };
  }

  #list(node: ListLiteral): Range {
    let cost = exactly(LIST_COST);
    let items = emptySize(node.items.length);
    for (const item of node.items) {
      cost = addRanges(cost, this.cost(item));
      items = joinRanges(items, this.#size(item) ?? UNKNOWN);
    }
    this.#entries.set(node.id, { container: "list", key: ONE, value: items });
    return cost;
  }

  #map(node: MapLiteral): Range {
    let cost = exactly(MAP_COST);
    let keys = emptySize(node.entries.length);
    let values = emptySize(node.entries.length);
    for (const { key, value } of node.entries) {
      cost = addRanges(cost, addRanges(this.cost(key), this.cost(value)));
      keys = joinRanges(keys, this.#size(key) ?? UNKNOWN);
      values = joinRanges(values, this.#size(value) ?? UNKNOWN);
    }
    this.#entries.set(node.id, { container: "map", key: keys, value: values });
    return cost;
  }

  #comprehension(node: Comprehension): Range {
    const { range, initial } = node;
    let cost = addRanges(this.cost(range), this.cost(initial));
    this.#push(node.accumulator, this.#localOf(initial));
    const [first, second] = this.#variablesOf(node);
    this.#push(node.variable, first);
    if (node.variable2 !== undefined) this.#push(node.variable2, second);
    const iteration = addRanges(this.cost(node.condition), this.cost(node.step));
    this.#pop(node.variable);
    if (node.variable2 !== undefined) this.#pop(node.variable2);
    cost = addRanges(cost, this.cost(node.result));
    this.#pop(node.accumulator);
    const iterations = this.#size(range) ?? UNKNOWN;
    cost = addRanges(cost, multiplyRanges(iterations, iteration));
    if (initial.kind === "literal") this.#setSize(node, this.#size(initial));
    else if (initial.kind === "list" || initial.kind === "map") {
      this.#computed.set(node.id, iterations);
      const entries = this.#entriesOf(node.step);
      if (entries !== undefined) this.#entries.set(node.id, entries);
    }
    return cost;
  }

  #bind(node: Comprehension): Range {
    let cost = addRanges(this.cost(node.range), this.cost(node.initial));
    this.#push(node.accumulator, this.#localOf(node.initial));
    cost = addRanges(cost, this.cost(node.result));
    this.#pop(node.accumulator);
    this.#copySizes(node, node.result);
    return cost;
  }

  #localOf(node: Expression): Local {
    const path = this.#pathOf(node);
    const entries = this.#entriesOf(node);
    return { path, size: this.#size(node), entries };
  }

  #variablesOf({ range, variable2 }: Comprehension): readonly [Local, Local] {
    const sizes = this.#entriesOf(range);
    const isList = (sizes?.container ?? range.type.kind) === "list";
    const path = this.#pathOf(range);
    const local = (step: string, size: Range | undefined): Local => ({
      path: path.append(step),
      size,
      entries: undefined,
    });
    if (variable2 === undefined) {
      const one = isList ? local("@items", sizes?.value) : local("@keys", sizes?.key);
      return [one, one];
    }
    const key = local(isList ? "@indices" : "@keys", sizes?.key);
    return [key, local(isList ? "@items" : "@values", sizes?.value)];
  }

  #push(name: string, local: Local): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [local]);
    else stack.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)!.pop();
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #pathOf(node: Expression): Path {
    const local = node.kind === "identifier" ? this.#local(node.name) : undefined;
    return local?.path ?? this.#paths.get(node.id) ?? Path.NONE;
  }

  #operand(node: Expression): Operand {
    const path = this.#pathOf(node);
    const isNamed = path.at(0) !== ACCUMULATOR;
    return new Operand(node, isNamed ? path : Path.NONE, this.#size(node), this.#sizes);
  }

  #setSize(node: Expression, size: Range | undefined): void {
    if (size !== undefined) this.#computed.set(node.id, size);
  }

  #copySizes(to: Expression, from: Expression): void {
    this.#setSize(to, this.#size(from));
    const entries = this.#entriesOf(from);
    if (entries !== undefined) this.#entries.set(to.id, entries);
  }

  #size(node: Expression): Range | undefined {
    const known = this.#computed.get(node.id) ?? literalSize(node);
    if (known !== undefined) return known;
    const path = this.#pathOf(node);
    const estimated = path.length === 0 ? undefined : this.#sizes.sizeOf(path.parts());
    if (estimated !== undefined) {
      this.#computed.set(node.id, estimated);
      return estimated;
    }
    if (isScalar(node.type)) return ONE;
    return node.kind === "identifier" ? this.#local(node.name)?.size : undefined;
  }

  #entriesOf(node: Expression): EntrySizes | undefined {
    const known = this.#entries.get(node.id);
    if (known !== undefined) return known;
    return node.kind === "identifier" ? this.#local(node.name)?.entries : undefined;
  }
}

// The path element that an index adds, by overload.
const ENTRIES: { readonly [overload: string]: string } = { index_list: "@items", index_map: "@values" };
// Overloads whose cost depends on the sizes of their operands.
const COMPARISON = /^(?:less|greater)_(?:equals_)?(?:string|bytes)$/;

function isBind({ range, condition }: Comprehension): boolean {
  return range.kind === "list" && range.items.length === 0 && condition.kind === "literal" && condition.value === false;
}

function emptySize(count: number): Range {
  return { min: count === 0 ? 0 : UNLIMITED, max: 0 };
}

function joinEntries(a: EntrySizes | undefined, b: EntrySizes | undefined): EntrySizes | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { container: a.container, key: joinRanges(a.key, b.key), value: joinRanges(a.value, b.value) };
}
