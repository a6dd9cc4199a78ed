/**
 * Attributes: a name and the selections from it. `self.items[0].name` is one attribute with three
 * qualifiers (cel-go, interpreter/attributes.go).
 */
import type { FoldStep } from "./fold.ts";
import { goTypeOf } from "./go_type.ts";
import { attempt, Failure, type Outcome } from "./outcome.ts";
import type { Frame, Step } from "./step.ts";
import { List, MapValue, Optional, Uint, type Value } from "./value.ts";
import { valueText } from "./value_text.ts";

/** A name or another starting value, with the qualifiers applied to it. */
export interface Attribute {
  /** The id of the last qualifier, if any. */
  readonly id: number;
  qualify(by: Qualifier): void;
  resolve(frame: Frame): Outcome;
}

/** Selects a field, key or index. */
export interface Qualifier {
  readonly id: number;
  /** Whether a missing value becomes `optional.none()`. */
  readonly isOptional: boolean;
  select(frame: Frame, from: Value): Outcome;
  /** Returns `undefined` if the value is missing. */
  selectIfPresent(frame: Frame, from: Value): Outcome | undefined;
}

abstract class QualifiedAttribute implements Attribute {
  readonly #qualifiers: Qualifier[] = [];
  readonly #id: number;

  constructor(id: number) {
    this.#id = id;
  }

  get id(): number {
    return this.#qualifiers.at(-1)?.id ?? this.#id;
  }

  qualify(by: Qualifier): void {
    this.#qualifiers.push(by);
  }

  abstract resolve(frame: Frame): Outcome;

  protected applyQualifiers(frame: Frame, start: Outcome): Outcome {
    if (start instanceof Failure) return start;
    let value: Value = start;
    let isOptional = false;
    if (start instanceof Optional) {
      if (start.value === undefined) return start;
      if (this.#qualifiers.length === 0) return start;
      value = start.value;
      isOptional = true;
    }
    for (const qualifier of this.#qualifiers) {
      isOptional ||= qualifier.isOptional;
      const next = isOptional ? qualifier.selectIfPresent(frame, value) : qualifier.select(frame, value);
      if (next === undefined) return Optional.NONE;
      if (next instanceof Failure) return next;
      value = next;
    }
    return isOptional ? new Optional(value) : value;
  }
}

/** Starts at a variable of the environment. */
export class VariableAttribute extends QualifiedAttribute {
  constructor(id: number, readonly name: string) {
    super(id);
  }

  override resolve(frame: Frame): Outcome {
    const { variables } = frame;
    const value = Object.hasOwn(variables, this.name) ? variables[this.name] : undefined;
    if (value === undefined) return new Failure(`no such attribute(s): ${this.name}`);
    return this.applyQualifiers(frame, value);
  }
}

/** Starts at a loop variable. The accumulator is initialized on first use. */
export class LocalAttribute extends QualifiedAttribute {
  constructor(id: number, readonly slot: number, readonly accumulatorOf?: FoldStep) {
    super(id);
  }

  override resolve(frame: Frame): Outcome {
    return this.applyQualifiers(frame, frame.locals[this.slot] ?? this.accumulatorOf!.begin(frame));
  }
}

/** Starts at the result of another step. */
export class RelativeAttribute extends QualifiedAttribute {
  constructor(id: number, readonly start: Step) {
    super(id);
  }

  override resolve(frame: Frame): Outcome {
    return this.applyQualifiers(frame, this.start.run(frame));
  }
}

/** Chooses one of two attributes by a condition. */
export class ConditionalAttribute implements Attribute {
  readonly #id: number;

  constructor(id: number, readonly condition: Step, readonly then: Attribute, readonly otherwise: Attribute) {
    this.#id = id;
  }

  get id(): number {
    return this.then.id === this.otherwise.id ? this.then.id : this.#id;
  }

  qualify(by: Qualifier): void {
    this.then.qualify(by);
    this.otherwise.qualify(by);
  }

  resolve(frame: Frame): Outcome {
    const condition = this.condition.run(frame);
    if (condition === true) return this.then.resolve(frame);
    if (condition === false) return this.otherwise.resolve(frame);
    return condition instanceof Failure ? condition : new Failure("no such overload");
  }
}

/** Evaluates an attribute. */
export class AttributeStep implements Step {
  constructor(readonly attribute: Attribute) {}

  get id(): number {
    return this.attribute.id;
  }

  run(frame: Frame): Outcome {
    const { attribute } = this;
    const outcome = attribute.resolve(frame);
    drop(frame, attribute);
    frame.tracker.push(attribute.id, outcome);
    return outcome;
  }
}

/**
 * `has(...)`: evaluates an attribute whose last qualifier is a {@linkcode Presence}. The test
 * itself is free.
 */
export class PresenceStep implements Step {
  constructor(readonly id: number, readonly attribute: Attribute) {}

  run(frame: Frame): Outcome {
    const resolved = this.attribute.resolve(frame);
    const outcome = resolved instanceof Optional ? resolved.value !== undefined : resolved;
    drop(frame, this.attribute);
    frame.tracker.cost--;
    frame.tracker.push(this.id, outcome);
    return outcome;
  }
}

function drop({ tracker }: Frame, attribute: Attribute): void {
  if (attribute instanceof ConditionalAttribute) {
    // The cost of a conditional is that of its parts, so it adds none.
    tracker.drop(attribute.otherwise.id);
    tracker.drop(attribute.then.id);
    tracker.drop(attribute.condition.id);
  } else {
    tracker.drop(attribute.id);
    tracker.cost++;
  }
}

/** Selects a field or key that is a literal in the expression. */
export class Key implements Qualifier {
  constructor(readonly id: number, readonly key: Value, readonly isOptional: boolean) {}

  select(frame: Frame, from: Value): Outcome {
    const outcome = select(from, this.key);
    return track(frame, this.id, outcome);
  }

  selectIfPresent(frame: Frame, from: Value): Outcome | undefined {
    const outcome = find(from, this.key);
    return isMissing(outcome) ? outcome : track(frame, this.id, outcome);
  }
}

/** Tests whether a field or key is present. */
export class Presence implements Qualifier {
  readonly isOptional = false;

  constructor(readonly id: number, readonly key: Value) {}

  select(frame: Frame, from: Value): Outcome {
    const found = find(from, this.key);
    return track(frame, this.id, found instanceof Failure ? found : found !== undefined);
  }

  selectIfPresent(frame: Frame, from: Value): Outcome | undefined {
    const found = find(from, this.key);
    return isMissing(found) ? found : track(frame, this.id, found);
  }
}

/** Selects the field or key that another attribute evaluates to. */
export class Index implements Qualifier {
  readonly id: number;

  /** @param id The id that the tracker uses. @default the attribute's own */
  constructor(id: number | undefined, readonly attribute: Attribute, readonly isOptional: boolean) {
    this.id = id ?? attribute.id;
    this.#isOwn = id !== undefined;
  }

  readonly #isOwn: boolean;

  select(frame: Frame, from: Value): Outcome {
    const key = this.#key(frame);
    return this.#track(frame, key instanceof Failure ? key : select(from, key));
  }

  selectIfPresent(frame: Frame, from: Value): Outcome | undefined {
    const key = this.#key(frame);
    const outcome = key instanceof Failure ? key : find(from, key);
    return isMissing(outcome) ? outcome : this.#track(frame, outcome);
  }

  #key(frame: Frame): Outcome {
    const key = this.attribute.resolve(frame);
    return key instanceof Failure || isKey(key) ? key : new Failure(`invalid qualifier type: ${goTypeOf(key)}`);
  }

  #track(frame: Frame, outcome: Outcome): Outcome {
    if (!this.#isOwn) frame.tracker.drop(this.attribute.id);
    return track(frame, this.id, outcome);
  }
}

/** Returns whether a literal may be used as a key. */
export function isKey(value: Value): boolean {
  return ["string", "bigint", "number", "boolean"].includes(typeof value) || value instanceof Uint;
}

/** Returns whether a lookup found no value. The tracker does not charge such a lookup. */
function isMissing(outcome: Outcome | undefined): outcome is Failure | undefined {
  return outcome === undefined || outcome instanceof Failure;
}

function track(frame: Frame, id: number, outcome: Outcome): Outcome {
  frame.tracker.cost++;
  frame.tracker.push(id, outcome);
  return outcome;
}

function select(from: Value, key: Value): Outcome {
  const found = find(from, key);
  if (found !== undefined) return found;
  return new Failure(
    from instanceof List ? `index out of bounds: ${valueText(key)}` : `no such key: ${valueText(key)}`,
  );
}

function find(from: Value, key: Value): Outcome | undefined {
  if (from instanceof List) {
    const index = indexOf(key);
    if (index instanceof Failure) return index;
    const isUnsupported = from.semantics !== undefined && typeof key !== "bigint" && index in from.items;
    return isUnsupported ? new Failure(`unsupported index: ${valueText(key)}`) : attempt(() => from.items[index]);
  }
  if (!(from instanceof MapValue)) return undefined;
  return attempt(() => from.get(key));
}

function indexOf(key: Value): number | Failure {
  if (typeof key === "bigint") return Number(key);
  if (typeof key === "number") {
    const isWhole = Number.isInteger(key) && Math.abs(key) < 2 ** 63;
    return isWhole ? key : new Failure(`unsupported index value ${valueText(key)} in list`);
  }
  if (key instanceof Uint) {
    return key.value < 2n ** 63n ? Number(key.value) : new Failure(`unsupported index value ${key.value} in list`);
  }
  return new Failure(`unsupported index type '${goTypeName(key)}' in list`);
}

function goTypeName(key: Value): string {
  return typeof key === "boolean" ? "bool" : typeof key === "string" ? "string" : goTypeOf(key);
}
