/** A log that also passes its lines to a listener, for tests. */
import type { Log } from "../parts/context.ts";
import type { Logger } from "../runtime/logger.ts";

/** A line of an operator's log. */
export interface LogLine {
  /** The log level. */
  readonly level: keyof Log;
  /** The message, which is constant. Fields have the variable data. */
  readonly message: string;
  /** Controller, namespace, name, error and other fields. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Returns a log that also passes its lines to a listener.
 *
 * @param log The log to write to.
 * @param hear Called with each line.
 * @param fields Fields of every line.
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
