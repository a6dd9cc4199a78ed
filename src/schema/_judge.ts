/** Who judges the patterns, defaults and choices of schemas where they are made: nobody in an executable. */
import { IS_EXECUTABLE } from "../base/executable.ts";

/** What `_judgement.ts` has; nothing in an executable. Its modules, RE2 among them, then stay on the disk. */
export const judge: typeof import("./_judgement.ts") | undefined = IS_EXECUTABLE
  ? undefined
  : await import("./_judgement.ts");
