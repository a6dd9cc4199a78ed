/** Expressions of the language itself and of cel-go's extensions, by topic. */
import type { Case } from "../cel_libraries/case.ts";
import { BYTES } from "./bytes.ts";
import { COLLECTIONS } from "./collections.ts";
import { COMPARISONS } from "./comparisons.ts";
import { CONVERSIONS } from "./conversions.ts";
import { DISPATCH } from "./dispatch.ts";
import { LOGIC } from "./logic.ts";
import { MACROS } from "./macros.ts";
import { NUMBERS } from "./numbers.ts";
import { OPTIONALS } from "./optionals.ts";
import { SYNTAX } from "./syntax.ts";
import { TEXT } from "./text.ts";
import { TIMES } from "./times.ts";
import { TWO_VARIABLES } from "./two_variables.ts";

/** The tables by topic. */
export const CORE_TABLES: Readonly<Record<string, readonly Case[]>> = {
  Numbers: NUMBERS,
  Comparisons: COMPARISONS,
  Text: TEXT,
  Bytes: BYTES,
  Times: TIMES,
  Conversions: CONVERSIONS,
  Collections: COLLECTIONS,
  Macros: MACROS,
  TwoVariables: TWO_VARIABLES,
  Optionals: OPTIONALS,
  Logic: LOGIC,
  Dispatch: DISPATCH,
  Syntax: SYNTAX,
};
