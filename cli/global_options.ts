/** Options that every command accepts, and output formats. */
import type { Io } from "./io.ts";

/** Options that every command accepts. */
export interface GlobalOptions {
  /** The settings file. @default {`operator.toml` next to the operator, if it exists} */
  readonly config?: string | undefined;
  /** Log level of operators that the command starts. With `debug`, errors have more details. */
  readonly logLevel?: string | undefined;
  /** Whether colors may be used. @default {true} */
  readonly color?: boolean | undefined;
}

/** Returns whether output is colored: on a terminal, unless `--no-color` or `NO_COLOR` is set. */
export function isColored({ color = true }: GlobalOptions, io: Io): boolean {
  return color && (io.env("NO_COLOR") ?? "") === "" && io.isTerminal?.("out") === true;
}

/** The output formats. */
export const FORMS = ["text", "json", "yaml"] as const;

/** An output format. */
export type Form = typeof FORMS[number];
