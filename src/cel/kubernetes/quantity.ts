/** Quantities such as `500m` or `1Gi` (`k8s.io/apiserver/pkg/cel/library/quantity.go`). */
import { Quantity } from "../../base/quantity.ts";
import type { FunctionDeclaration, Overload } from "../function.ts";
import type { Library } from "../library.ts";
import { READING } from "../traversal.ts";
import { BOOL, type CelType, DOUBLE, INT, opaque, STRING } from "../type.ts";
import { CelError, OpaqueValue, type Value } from "../value.ts";
import { isParsable, parseOperand } from "./_parsing.ts";

const QUANTITY: CelType = opaque("kubernetes.Quantity");

/** A quantity as a value. */
export class QuantityValue extends OpaqueValue {
  readonly type: CelType = QUANTITY;
  override readonly goType = "cel.Quantity";

  /**
   * @param quantity The quantity.
   * @param isComputed Whether it is a sum or difference. In a comparison with `==`, a server
   * accepts such a quantity only as the left operand.
   */
  constructor(readonly quantity: Quantity, readonly isComputed: boolean) {
    super();
  }

  equals(other: Value): boolean {
    if (!(other instanceof QuantityValue) || other.isComputed) throw new CelError("no such overload");
    return this.quantity.compare(other.quantity) === 0;
  }
}

/** The library: `quantity`, `isQuantity`, arithmetic and comparisons. */
export const QUANTITIES: Library = {
  name: "kubernetes.quantity",
  functions: [
    {
      name: "quantity",
      cost: READING.cost,
      overloads: [{
        id: "string_to_quantity",
        isMember: false,
        parameters: [STRING],
        result: QUANTITY,
        call: (text) => new QuantityValue(parseOperand(() => Quantity.parse(text as string)), false),
        estimate: READING.estimate,
      }],
    },
    {
      name: "isQuantity",
      cost: READING.cost,
      overloads: [{
        id: "is_quantity_string",
        isMember: false,
        parameters: [STRING],
        result: BOOL,
        call: (text) => isParsable(() => Quantity.parse(text as string)),
        estimate: READING.estimate,
      }],
    },
    // It is a global function, although the documentation says that it is a member.
    { name: "sign", overloads: [{ ...getter("sign", INT, ({ sign }) => BigInt(sign)), isMember: false }] },
    member("isGreaterThan", comparisonOverload("is_greater_than", BOOL, (order) => order === 1)),
    member("isLessThan", comparisonOverload("is_less_than", BOOL, (order) => order === -1)),
    member("compareTo", comparisonOverload("compare_to", INT, (order) => BigInt(order))),
    member("asApproximateFloat", getter("get_float", DOUBLE, (quantity) => quantity.asApproximateFloat())),
    member("asInteger", getter("get_int", INT, asInteger)),
    member("isInteger", getter("is_integer", BOOL, (quantity) => quantity.asInteger() !== undefined)),
    member("add", ...arithmeticOverloads("add", (a, b) => a.add(b))),
    member("sub", ...arithmeticOverloads("sub", (a, b) => a.subtract(b))),
  ],
};

function member(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}

/** A function of one quantity. */
function getter(id: string, result: CelType, read: (quantity: Quantity) => Value): Overload {
  return {
    id: `quantity_${id}`,
    isMember: true,
    parameters: [QUANTITY],
    result,
    call: (value) => read((value as QuantityValue).quantity),
  };
}

/** A comparison of two quantities. */
function comparisonOverload(id: string, result: CelType, read: (order: -1 | 0 | 1) => Value): Overload {
  return {
    id: `quantity_${id}`,
    isMember: true,
    parameters: [QUANTITY, QUANTITY],
    result,
    call: (a, b) => read((a as QuantityValue).quantity.compare((b as QuantityValue).quantity)),
  };
}

/** Arithmetic with two quantities, or a quantity and an integer. */
function arithmeticOverloads(id: string, compute: (a: Quantity, b: Quantity) => Quantity): Overload[] {
  const shape = { isMember: true, result: QUANTITY };
  return [
    {
      ...shape,
      id: `quantity_${id}`,
      parameters: [QUANTITY, QUANTITY],
      call: (a, b) => calculate(a as QuantityValue, (b as QuantityValue).quantity, compute),
    },
    {
      ...shape,
      id: `quantity_${id}_int`,
      parameters: [QUANTITY, INT],
      call: (a, b) => calculate(a as QuantityValue, Quantity.of(b as bigint, "DecimalExponent"), compute),
    },
  ];
}

function calculate(
  { quantity }: QuantityValue,
  other: Quantity,
  compute: (a: Quantity, b: Quantity) => Quantity,
): Value {
  try {
    return new QuantityValue(compute(quantity, other), true);
  } catch (error) {
    throw error instanceof RangeError ? new CelError(error.message) : error;
  }
}

function asInteger(quantity: Quantity): bigint {
  const integer = quantity.asInteger();
  if (integer === undefined) throw new CelError("cannot convert value to integer");
  return integer;
}
