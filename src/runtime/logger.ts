/** The log that the runtime writes to. The operator hands it in. */
import type { Log } from "../parts/context.ts";

/** A log that can be narrowed: what it writes carries fields. */
export interface Logger extends Log {
  /** A log whose lines carry these fields as well. */
  with(fields: Record<string, unknown>): Logger;
  /** Whether lines of the level `debug` are written: what is needed for them alone need not be made. */
  readonly isDebug: boolean;
}
