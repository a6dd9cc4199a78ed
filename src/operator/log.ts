/**
 * Logs: JSON lines for machines, text for people. They are written with LogTape, which an embedding
 * program may configure itself.
 */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import {
  configure,
  getConfig,
  getLogger,
  type Logger as LogTapeLogger,
  type LogLevel as LogTapeLevel,
  type LogRecord,
} from "@logtape/logtape";
import { isoTime } from "../base/iso_time.ts";
import { maskSecret, maskSecrets } from "../base/mask_secrets.ts";
import type { Log } from "../parts/context.ts";
import type { Logger } from "../runtime/logger.ts";

/** The lowest level that is logged. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** The format of log lines. */
export type LogFormat = "json" | "text";

/** The levels in ascending order. */
export const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

const CATEGORY = "op";

/**
 * Returns the logger of an operator.
 *
 * @param operator The operator's name.
 */
export function operatorLog(operator: string): Logger {
  return adapt(getLogger([CATEGORY, operator]));
}

function adapt(logger: LogTapeLogger): Logger {
  return {
    debug: (message, fields = {}) => logger.debug(verbatim(message), fields),
    info: (message, fields = {}) => logger.info(verbatim(message), fields),
    warn: (message, fields = {}) => logger.warn(verbatim(message), fields),
    error: (message, fields = {}) => logger.error(verbatim(message), fields),
    with: (fields) => adapt(logger.with(fields)),
    get isDebug() {
      return logger.isEnabledFor("debug");
    },
  };
}

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
 * Returns a logger that also passes its lines to a listener, for tests.
 *
 * @param log The logger to write to.
 * @param onLine Called with each line of any level.
 * @param fields Fields of every line.
 */
export function logWithListener(
  log: Logger,
  onLine: (line: LogLine) => void,
  fields: Record<string, unknown> = {},
): Logger {
  const level = (name: keyof Log) => (message: string, more: Record<string, unknown> = {}): void => {
    onLine({ level: name, message, fields: { ...fields, ...more } });
    log[name](message, more);
  };
  return {
    debug: level("debug"),
    info: level("info"),
    warn: level("warn"),
    error: level("error"),
    with: (more) => logWithListener(log.with(more), onLine, { ...fields, ...more }),
    get isDebug() {
      return log.isDebug;
    },
  };
}

/** Escapes braces, which are placeholders in LogTape: messages of the SDK are constant. */
function verbatim(message: string): string {
  return message.includes("{") || message.includes("}") ? message.replaceAll("{", "{{").replaceAll("}", "}}") : message;
}

/** The logs that a program configured. Their level may change while it runs. */
export interface ConfiguredLogs {
  /** Sets the lowest level that is written. */
  setLevel(level: LogLevel): Promise<void>;
}

/**
 * Sends the SDK's logs to a writer, for a program that runs an operator. An existing LogTape
 * configuration is not changed.
 *
 * @param level The lowest level that is written.
 * @param format The format of the lines.
 * @param write Called with whole lines.
 */
export async function configureLogs(
  level: LogLevel,
  format: LogFormat,
  write: (line: string) => void,
): Promise<ConfiguredLogs> {
  if (getConfig() !== null) return { setLevel: () => Promise.resolve() };
  const lineOf = format === "json" ? jsonLine : textLine;
  const setLevel = (level: LogLevel): Promise<void> =>
    configure({
      reset: true,
      sinks: { op: (record) => write(lineOf(record)) },
      loggers: [
        { category: CATEGORY, lowestLevel: level === "warn" ? "warning" : level, sinks: ["op"] },
        { category: ["logtape", "meta"], lowestLevel: "error", sinks: ["op"] },
      ],
    });
  await setLevel(level);
  return { setLevel };
}

const LEVEL: Record<LogTapeLevel, LogLevel> = {
  trace: "debug",
  debug: "debug",
  info: "info",
  warning: "warn",
  error: "error",
  fatal: "error",
};

/**
 * The levels as `SeverityNumber` of OpenTelemetry's log data model, for systems that compare
 * levels.
 */
const SEVERITY: Record<LogLevel, number> = { debug: 5, info: 9, warn: 13, error: 17 };

/**
 * Formats a line with controller-runtime's keys, so that its log tooling works here too. Fields
 * cannot override these keys.
 */
function jsonLine({ level, timestamp, category, rawMessage, properties }: LogRecord): string {
  const line = {
    level: LEVEL[level],
    severityNumber: SEVERITY[LEVEL[level]],
    ts: isoTime(timestamp),
    logger: category.slice(1).join("."),
    msg: textOf(rawMessage),
  };
  return `${jsonOfFields({ ...line, ...properties, ...line })}\n`;
}

/** Fields that programs use to correlate lines. Text lines omit them. */
const FOR_MACHINES = ["reconcileID", "uid", "controllerGroup", "controllerKind", "operatorID", "trace_id", "span_id"];

function textLine({ level, timestamp, rawMessage, properties }: LogRecord): string {
  const time = isoTime(timestamp).slice(11, 23);
  const shown = Object.entries(properties).filter(([name]) => !FOR_MACHINES.includes(name));
  const fields = shown.map(([name, value]) => ` ${name}=${jsonOf(value)}`).join("");
  return `${time} ${LEVEL[level].toUpperCase().padEnd(5)} ${textOf(rawMessage)}${fields}\n`;
}

/** Returns fields as JSON. A field that cannot be serialized does not affect the others. */
function jsonOfFields(fields: Record<string, unknown>): string {
  try {
    return JSON.stringify(fields, plain);
  } catch {
    return `{${Object.entries(fields).map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(value)}`).join(",")}}`;
  }
}

/**
 * Returns a value as JSON, or as a string if it cannot be serialized, for example a cyclic object.
 */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, plain) ?? "null";
  } catch {
    return JSON.stringify(inspected(value));
  }
}

function inspected(value: unknown): string {
  try {
    return Deno.inspect(maskSecrets(value));
  } catch {
    return "[unreadable]";
  }
}

function textOf(message: LogRecord["rawMessage"]): string {
  const text = typeof message === "string" ? message : message.join("");
  return text.replaceAll("{{", "{").replaceAll("}}", "}");
}

/**
 * Serializes errors and big integers, which JSON does not support. Redacts values of Secrets and
 * credentials in URLs.
 */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Error) return withoutUrlCredentials(value.stack ?? value.message);
  if (typeof value === "string") return withoutUrlCredentials(value);
  return typeof value === "bigint" ? String(value) : maskSecret(value);
}
