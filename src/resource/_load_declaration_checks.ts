/**
 * Loads the checks of schemas, rules and conditions that run when these are declared. Executables
 * skip them, because their declarations were validated at build time.
 */
import { IS_EXECUTABLE } from "../base/executable.ts";

/**
 * The exports of `_declaration_checks.ts`, or `undefined` in an executable. The executable then
 * does not load its modules, such as CEL.
 */
export const declarationChecks: typeof import("./_declaration_checks.ts") | undefined = IS_EXECUTABLE
  ? undefined
  : await import("./_declaration_checks.ts");
