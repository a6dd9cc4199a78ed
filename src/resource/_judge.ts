/** Who judges schemas, rules and conditions where they are declared: nobody in an executable. */
import { IS_EXECUTABLE } from "../base/executable.ts";

/** What `_judgement.ts` has; nothing in an executable. Its modules, CEL among them, then stay on the disk. */
export const judge: typeof import("./_judgement.ts") | undefined = IS_EXECUTABLE
  ? undefined
  : await import("./_judgement.ts");
