/**
 * Loads the checks of patterns, defaults and enums that run while schemas are built. Executables
 * skip them, because their schemas were validated at build time.
 */
import { IS_EXECUTABLE } from "../base/executable.ts";

/**
 * The exports of `_declaration_checks.ts`, or `undefined` in an executable. The executable then
 * does not load its modules, such as RE2.
 */
export const declarationChecks: typeof import("./_declaration_checks.ts") | undefined = IS_EXECUTABLE
  ? undefined
  : await import("./_declaration_checks.ts");
