/** Plans a program from a checked tree (cel-go, interpreter/planner.go and decorators.go). */
import {
  type Attribute,
  AttributeStep,
  ConditionalAttribute,
  Index,
  isKey,
  Key,
  LocalAttribute,
  Presence,
  PresenceStep,
  RelativeAttribute,
  VariableAttribute,
} from "./attribute.ts";
import {
  type Callee,
  CallStep,
  LenientStep,
  ListStep,
  LogicalStep,
  MapStep,
  MembershipStep,
  membersOf,
  OptionalOrStep,
} from "./call.ts";
import { UNTRACKED } from "./cost_tracker.ts";
import { calleeOf, compiledCalleeOf } from "./dispatch.ts";
import { FoldStep } from "./fold.ts";
import { goTypeOf } from "./go_type.ts";
import type { FunctionDeclaration } from "./function.ts";
import { Abort, Failure } from "./outcome.ts";
import { regularExpression } from "./regular_expression.ts";
import { ConstantStep, type Frame, type Step } from "./step.ts";
import type { Call, Comprehension, Expression, Identifier, ListLiteral, MapLiteral, Select } from "./syntax_tree.ts";
import type { List, Value } from "./value.ts";

/** The executable form of a tree. */
export interface Plan {
  readonly root: Step;
  /** The number of slots for loop variables. */
  readonly locals: number;
}

/** Thrown if a checked expression cannot become a program because a constant part of it fails. */
export class PlanError extends Error {
  override name = "PlanError";
}

/**
 * Plans a program.
 *
 * @param root The checked tree.
 * @param functions The declarations of the functions that it calls.
 * @throws {PlanError} If a constant part fails.
 */
export function plan(root: Expression, functions: ReadonlyMap<string, FunctionDeclaration>): Plan {
  const planner = new Planner(functions);
  return { root: planner.plan(root), locals: planner.locals };
}

// Calls of these functions with a literal are evaluated at plan time.
const CONVERSIONS: ReadonlySet<string> = new Set([
  "bool",
  "bytes",
  "double",
  "dyn",
  "duration",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);

/** The slot of a loop variable, and the loop whose accumulator it is, if any. */
interface Local {
  readonly slot: number;
  readonly accumulatorOf?: FoldStep;
}

class Planner {
  locals = 0;
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>;
  #scope: ReadonlyMap<string, Local> = new Map();

  constructor(functions: ReadonlyMap<string, FunctionDeclaration>) {
    this.#functions = functions;
  }

  plan(node: Expression): Step {
    switch (node.kind) {
      case "literal":
        return new ConstantStep(node.id, node.value);
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
        return this.#comprehension(node);
      case "struct":
      case "broken":
        throw new PlanError(`unsupported expression: ${node.kind}`);
    }
  }

  #identifier(node: Identifier): Step {
    if (node.constant !== undefined) return new ConstantStep(node.id, node.constant);
    const local = this.#scope.get(node.name);
    return new AttributeStep(
      local === undefined
        ? new VariableAttribute(node.id, node.name)
        : new LocalAttribute(node.id, local.slot, local.accumulatorOf),
    );
  }

  #select(node: Select): Step {
    if (node.name !== undefined) {
      if (node.constant !== undefined) return new ConstantStep(node.id, node.constant);
      return new AttributeStep(new VariableAttribute(node.id, node.name));
    }
    const step = attributeStep(this.plan(node.operand));
    step.attribute.qualify(node.isTest ? new Presence(node.id, node.field) : new Key(node.id, node.field, false));
    return node.isTest ? new PresenceStep(node.id, step.attribute) : step;
  }

  #call(node: Call): Step {
    const operands = (node.target === undefined ? node.operands : [node.target, ...node.operands]).map((operand) =>
      this.plan(operand)
    );
    const [first, second, third] = operands;
    switch (node.name) {
      case "_&&_":
      case "_||_":
        return new LogicalStep(node.id, operands, node.name === "_||_");
      case "_?_:_":
        return new AttributeStep(
          new ConditionalAttribute(node.id, first!, attributeOf(second!), attributeOf(third!)),
        );
      case "_[_]":
      case "_[?_]":
      case "_?._":
        return indexStep(node.id, first!, second!, node.name !== "_[_]");
      case "or":
      case "orValue":
        return new OptionalOrStep(node.id, first!, second!, node.name === "orValue");
      case "@not_strictly_false":
        return new LenientStep(node.id, first!, (outcome) => typeof outcome === "boolean" ? outcome : true);
      default:
        return this.#function(node, operands);
    }
  }

  #function(node: Call, operands: readonly Step[]): Step {
    const declared = this.#functions.get(node.name)!;
    const pattern = declared.patternOperand === undefined ? undefined : operands[declared.patternOperand];
    if (pattern instanceof ConstantStep && typeof pattern.value === "string") {
      compilePattern(pattern.value);
      return new CallStep(node.id, operands, compiledCalleeOf(node, declared), true);
    }
    const callee = calleeOf(node, declared);
    const [first, second] = operands;
    if (CONVERSIONS.has(node.name) && operands.length === 1 && first instanceof ConstantStep) {
      return new ConstantStep(node.id, evaluateConstant(callee, first.value));
    }
    const [overload] = node.overloads;
    if (node.overloads.length === 1 && overload?.id === "in_list" && second instanceof ConstantStep) {
      const list = second.value as List;
      if (list.items.length === 0) return new ConstantStep(node.id, false);
      const members = membersOf(list);
      if (members !== undefined) return new MembershipStep(node.id, first!, members);
    }
    // For a binary call with a known overload, cel-go evaluates both operands before it checks
    // them.
    const isDispatched = node.overloads.length > 1 && declared.call === undefined;
    const stopsEarly = operands.length > 2 || isDispatched || declared.stopsEarly === true;
    return new CallStep(node.id, operands, callee, stopsEarly);
  }

  #list(node: ListLiteral): Step {
    const items = node.items.map((item) => this.plan(item));
    const step = new ListStep(node.id, items, new Set(node.optionals));
    return items.every((item) => item instanceof ConstantStep) ? foldConstant(step) : step;
  }

  #map(node: MapLiteral): Step {
    const entries = node.entries.map(({ key, value, isOptional }) => ({
      key: this.plan(key),
      value: this.plan(value),
      isOptional,
    }));
    const step = new MapStep(node.id, entries);
    const isKnown = entries.every(({ key, value }) => key instanceof ConstantStep && value instanceof ConstantStep);
    return isKnown ? foldConstant(step) : step;
  }

  #comprehension(node: Comprehension): Step {
    const slots = {
      accumulator: this.locals++,
      variable: this.locals++,
      variable2: node.variable2 === undefined ? undefined : this.locals++,
    };
    const fold = new FoldStep(node.id, slots);
    const outer = this.#scope;
    const initial = this.plan(node.initial);
    const range = this.plan(node.range);
    const accumulatorScope = new Map(outer).set(node.accumulator, { slot: slots.accumulator, accumulatorOf: fold });
    const loopScope = new Map(accumulatorScope).set(node.variable, { slot: slots.variable });
    if (node.variable2 !== undefined) loopScope.set(node.variable2, { slot: slots.variable2! });
    this.#scope = loopScope;
    const condition = this.plan(node.condition);
    const step = this.plan(node.step);
    this.#scope = accumulatorScope;
    const result = this.plan(node.result);
    this.#scope = outer;
    fold.parts = { range, initial, condition, step, result };
    return fold;
  }
}

/** Returns the attribute of a step, without the cost of the step itself. */
function attributeOf(step: Step): Attribute {
  if (step instanceof AttributeStep || step instanceof PresenceStep) return step.attribute;
  return new RelativeAttribute(step.id, step);
}

function attributeStep(step: Step): AttributeStep | PresenceStep {
  if (step instanceof AttributeStep || step instanceof PresenceStep) return step;
  return new AttributeStep(new RelativeAttribute(step.id, step));
}

function indexStep(id: number, target: Step, by: Step, isOptional: boolean): Step {
  const step = attributeStep(target);
  if (by instanceof ConstantStep) {
    if (!isKey(by.value)) throw new PlanError(`invalid qualifier type: ${goTypeOf(by.value)}`);
    step.attribute.qualify(new Key(id, by.value, isOptional));
  } else if (by instanceof AttributeStep || by instanceof PresenceStep) {
    step.attribute.qualify(new Index(id, by.attribute, isOptional));
  } else {
    step.attribute.qualify(new Index(undefined, new RelativeAttribute(id, by), isOptional));
  }
  return step;
}

/** Evaluates a step whose parts are all constant, and returns its value as a step. */
function foldConstant(step: Step): Step {
  const frame: Frame = { variables: {}, locals: [], tracker: UNTRACKED };
  try {
    const outcome = step.run(frame);
    return outcome instanceof Failure ? step : new ConstantStep(step.id, outcome);
  } catch (error) {
    throw error instanceof Abort ? new PlanError(error.message) : error;
  }
}

function evaluateConstant(callee: Callee, value: Value): Value {
  const outcome = callee.call([value]);
  if (outcome instanceof Failure) throw new PlanError(outcome.message);
  return outcome;
}

function compilePattern(pattern: string): void {
  try {
    regularExpression(pattern);
  } catch (error) {
    throw new PlanError((error as SyntaxError).message);
  }
}
