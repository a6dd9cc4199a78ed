/**
 * Provides the validation of schemas, rules and conditions when they are declared. Executables skip
 * it, because their declarations were validated at build time.
 */
import { IS_EXECUTABLE } from "../base/executable.ts";

/**
 * The exports of `_judgement.ts`, or `undefined` in an executable. The executable then does not
 * load its modules, such as CEL.
 */
export const judge: typeof import("./_judgement.ts") | undefined = IS_EXECUTABLE
  ? undefined
  : await import("./_judgement.ts");
