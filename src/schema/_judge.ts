/**
 * Provides the validation of patterns, defaults and enums while schemas are built. Executables skip
 * it, because their schemas were validated at build time.
 */
import { IS_EXECUTABLE } from "../base/executable.ts";

/**
 * The exports of `_judgement.ts`, or `undefined` in an executable. The executable then does not
 * load its modules, such as RE2.
 */
export const validation: typeof import("./_judgement.ts") | undefined = IS_EXECUTABLE
  ? undefined
  : await import("./_judgement.ts");
