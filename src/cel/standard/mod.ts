/** The functions and types that every CEL expression can use, as a library. */
import type { Constant, Library } from "../library.ts";
import { STANDARD_MACROS } from "../macro.ts";
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  NULL,
  parameter,
  STRING,
  TIMESTAMP,
  typeName,
  typeOf,
  UINT,
} from "../type.ts";
import { TypeValue } from "../value.ts";
import { CONVERSIONS } from "./conversions.ts";
import { OPERATORS } from "./operators.ts";
import { TEXT_FUNCTIONS } from "./text.ts";
import { TIME_FUNCTIONS } from "./times.ts";

const TYPES: readonly CelType[] = [
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  INT,
  listOf(parameter("A")),
  mapOf(parameter("A"), parameter("B")),
  NULL,
  STRING,
  TIMESTAMP,
  { kind: "type" },
  UINT,
];

/** The operators, conversions, functions, types and macros of the language. */
export const STANDARD_LIBRARY: Library = {
  name: "standard",
  functions: [...OPERATORS, ...CONVERSIONS, ...TEXT_FUNCTIONS, ...TIME_FUNCTIONS],
  constants: TYPES.map(typeConstant),
  macros: STANDARD_MACROS,
};

/** A constant for the name of a type. */
function typeConstant(type: CelType): Constant {
  return { name: typeName(type), type: typeOf(type), value: new TypeValue(type) };
}
