/** A log that somebody listens to, beside what is done with its lines: a test. */
import type { Log } from "../parts/context.ts";
import type { Logger } from "../runtime/logger.ts";

/** A line of an operator's log. */
export interface LogLine {
  /** How much it matters. */
  readonly level: keyof Log;
  /** It is constant: what varies is a field. */
  readonly message: string;
  /** Controller, namespace, name, error and so on. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * A log whose lines are told as well.
 *
 * @param log Where they go.
 * @param hear Told of each.
 * @param fields What each carries.
 */
export function heardLog(log: Logger, hear: (line: LogLine) => void, fields: Record<string, unknown> = {}): Logger {
  const level = (name: keyof Log) => (message: string, more: Record<string, unknown> = {}): void => {
    hear({ level: name, message, fields: { ...fields, ...more } });
    log[name](message, more);
  };
  return {
    debug: level("debug"),
    info: level("info"),
    warn: level("warn"),
    error: level("error"),
    with: (more) => heardLog(log.with(more), hear, { ...fields, ...more }),
    get isDebug() {
      return log.isDebug;
    },
  };
}
