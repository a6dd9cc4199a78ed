/** The log of the runtime. The operator provides it. */
import type { Log } from "../parts/context.ts";

/** A log whose lines can have common fields. */
export interface Logger extends Log {
  /** Returns a log that adds fields to each line. */
  with(fields: Record<string, unknown>): Logger;
  /** Whether lines of level `debug` are written. Otherwise their fields need not be computed. */
  readonly isDebug: boolean;
}
