/** Options that every command takes. */
import type { Io } from "./io.ts";
import { toYaml } from "./yaml.ts";

/** What can be said to every command. */
export interface GlobalOptions {
  /** The file with settings. @default {operator.toml beside the operator, where it is there} */
  readonly config?: string | undefined;
  /** How much is told: by the operators that are started, and with `debug` of errors too. */
  readonly logLevel?: string | undefined;
  /** Whether colors may be used. */
  readonly color?: boolean | undefined;
}

/** Whether standard output is to be colored: on a terminal, unless somebody does not want it. */
export function isColored({ color = true }: GlobalOptions, io: Io): boolean {
  return color && (io.env("NO_COLOR") ?? "") === "" && io.isTerminal?.("out") === true;
}

/**
 * Data as programs read it.
 *
 * @param value The data.
 * @param form `json` or `yaml`.
 */
export function printed(value: unknown, form: "json" | "yaml"): string {
  return form === "json" ? `${JSON.stringify(value, null, 2)}\n` : toYaml(value);
}

/** How what is data is printed. */
export const FORMS = ["text", "json", "yaml"] as const;

/** How what is data is printed. */
export type Form = typeof FORMS[number];
