/** Steps that call operators and functions. */
import { EntryMap, NO_BYTES } from "./map_value.ts";
import { Abort, Failure, type Outcome } from "./outcome.ts";
import type { Frame, Step } from "./step.ts";
import { List, Optional, Uint, type Value } from "./value.ts";
import { valueText } from "./value_text.ts";

/** Implements a call on evaluated operands. */
export interface Callee {
  call(values: readonly Value[]): Outcome;
  cost(values: readonly Outcome[], result: Outcome): number;
}

/** Calls a function. */
export class CallStep implements Step {
  readonly #ids: readonly number[];

  /**
   * @param stopsEarly Whether a failing operand prevents the evaluation of the following ones. This
   * changes the cost of the failure.
   */
  constructor(
    readonly id: number,
    readonly operands: readonly Step[],
    readonly callee: Callee,
    readonly stopsEarly: boolean,
  ) {
    this.#ids = operands.map((operand) => operand.id);
  }

  run(frame: Frame): Outcome {
    const outcome = this.#call(frame);
    charge(frame, this.#ids, this.callee, outcome);
    frame.tracker.push(this.id, outcome);
    return outcome;
  }

  #call(frame: Frame): Outcome {
    const { operands } = this;
    const values: Value[] = [];
    let failure: Failure | undefined;
    for (const operand of operands) {
      const value = operand.run(frame);
      if (!(value instanceof Failure)) values.push(value);
      else if (this.stopsEarly) return value;
      else failure ??= value;
    }
    return failure ?? this.callee.call(values);
  }
}

/** Calls a function that also accepts failures. */
export class LenientStep implements Step {
  constructor(readonly id: number, readonly operand: Step, readonly callee: (outcome: Outcome) => Outcome) {}

  run(frame: Frame): Outcome {
    const outcome = this.callee(this.operand.run(frame));
    if (frame.tracker.take([this.operand.id]) !== undefined) frame.tracker.cost++;
    frame.tracker.push(this.id, outcome);
    return outcome;
  }
}

function charge({ tracker }: Frame, ids: readonly number[], callee: Callee, outcome: Outcome): void {
  const operands = tracker.take(ids);
  if (operands !== undefined) tracker.cost += callee.cost(operands, outcome);
}

/** `&&` and `||`. An operand that decides the result overrides a failed one. */
export class LogicalStep implements Step {
  /** @param deciding The value that ends the evaluation: `false` for `&&`, `true` for `||`. */
  constructor(readonly id: number, readonly terms: readonly Step[], readonly deciding: boolean) {}

  run(frame: Frame): Outcome {
    const outcome = this.#decide(frame);
    for (const term of this.terms) frame.tracker.drop(term.id);
    frame.tracker.push(this.id, outcome);
    return outcome;
  }

  #decide(frame: Frame): Outcome {
    let failure: Failure | undefined;
    for (const term of this.terms) {
      const value = term.run(frame);
      if (value === this.deciding) return value;
      if (typeof value === "boolean") continue;
      failure ??= value instanceof Failure ? value : new Failure("no such overload");
    }
    return failure ?? !this.deciding;
  }
}

/** `value in [literals]`: cel-go uses a set lookup for it, which it does not charge. */
export class MembershipStep implements Step {
  constructor(readonly id: number, readonly operand: Step, readonly set: ReadonlySet<unknown>) {}

  run(frame: Frame): Outcome {
    const value = this.operand.run(frame);
    const outcome = value instanceof Failure ? value : this.set.has(memberKey(value));
    frame.tracker.push(this.id, outcome);
    return outcome;
  }
}

/**
 * Returns the members of a list of literals as a set, or `undefined` if one of them has no set
 * representation.
 */
export function membersOf(list: List): ReadonlySet<unknown> | undefined {
  const members = new Set<unknown>();
  for (const item of list.items) {
    if (typeof item === "object" && !(item instanceof Uint)) return undefined;
    members.add(memberKey(item));
    const number = item instanceof Uint ? item.value : item;
    if (typeof number === "bigint") members.add(memberKey(Number(number)));
    // Whole numbers are equal across number types.
    const whole = typeof number === "bigint" ? number : wholeOf(number);
    if (whole === undefined) continue;
    if (BigInt.asIntN(64, whole) === whole) members.add(memberKey(whole));
    if (BigInt.asUintN(64, whole) === whole) members.add(memberKey(new Uint(whole)));
  }
  return members;
}

function wholeOf(value: Value): bigint | undefined {
  return typeof value === "number" && Number.isInteger(value) ? BigInt(value) : undefined;
}

function memberKey(value: Value): unknown {
  if (value instanceof Uint8Array) throw new Abort(NO_BYTES);
  if (typeof value === "string") return `s${value}`;
  if (typeof value === "number") return Number.isNaN(value) ? {} : value;
  return value instanceof Uint ? `u${value.value}` : value;
}

/** `a.or(b)` and `a.orValue(b)`: `b` is evaluated only if `a` has no value. */
export class OptionalOrStep implements Step {
  constructor(
    readonly id: number,
    readonly first: Step,
    readonly second: Step,
    readonly unwraps: boolean,
  ) {}

  run(frame: Frame): Outcome {
    const outcome = this.#choose(frame);
    frame.tracker.push(this.id, outcome);
    return outcome;
  }

  #choose(frame: Frame): Outcome {
    const first = this.first.run(frame);
    if (!(first instanceof Optional)) return first;
    if (first.value === undefined) return this.second.run(frame);
    return this.unwraps ? first.value : first;
  }
}

/** Builds a list. */
export class ListStep implements Step {
  constructor(readonly id: number, readonly items: readonly Step[], readonly optionals: ReadonlySet<number>) {}

  run(frame: Frame): Outcome {
    const outcome = this.#build(frame);
    frame.tracker.take(this.items.map((item) => item.id));
    frame.tracker.cost += LIST_COST;
    frame.tracker.push(this.id, outcome);
    return outcome;
  }

  #build(frame: Frame): Outcome {
    const items: Value[] = [];
    for (const [i, step] of this.items.entries()) {
      const item = step.run(frame);
      if (item instanceof Failure) return item;
      if (!this.optionals.has(i)) items.push(item);
      else if (!(item instanceof Optional)) {
        return new Failure(`cannot initialize optional list element from non-optional value ${valueText(item)}`);
      } else if (item.value !== undefined) items.push(item.value);
    }
    return new List(items);
  }
}

/** The costs of building a list and of building a map (cel-go, common/cost.go). */
export const LIST_COST = 10;
export const MAP_COST = 30;

/** A key and its value. */
export interface EntryStep {
  readonly key: Step;
  readonly value: Step;
  readonly isOptional: boolean;
}

/** Builds a map. */
export class MapStep implements Step {
  constructor(readonly id: number, readonly entries: readonly EntryStep[]) {}

  run(frame: Frame): Outcome {
    const outcome = this.#build(frame);
    frame.tracker.take(this.entries.flatMap(({ key, value }) => [key.id, value.id]));
    frame.tracker.cost += MAP_COST;
    frame.tracker.push(this.id, outcome);
    return outcome;
  }

  #build(frame: Frame): Outcome {
    const map = new EntryMap();
    for (const entry of this.entries) {
      const key = entry.key.run(frame);
      if (key instanceof Failure) return key;
      const value = entry.value.run(frame);
      if (value instanceof Failure) return value;
      if (!entry.isOptional) map.set(key, value);
      else if (!(value instanceof Optional)) {
        return new Failure(
          `cannot initialize optional entry '${valueText(key)}' from non-optional value ${valueText(value)}`,
        );
      } else if (value.value === undefined) map.delete(key);
      else map.set(key, value.value);
    }
    return map;
  }
}
