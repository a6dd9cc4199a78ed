/** Settings from flags, variables and a file; the first of these that says something counts, then the code. */
import { parse, TomlError } from "smol-toml";
import { type Duration, milliseconds } from "../base/duration.ts";
import { isObject } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import { type Setting, SETTINGS, variableOf } from "./setting_list.ts";

/** A setting's value, and where it was said. */
export interface Said {
  readonly value: string | number | boolean | readonly string[];
  /** In words: `--log-level`, `OP_LOG_LEVEL`, `"operator.toml"`. */
  readonly where: string;
}

/** What was said, by the setting's key; a `*` of the key is what was there in its place. */
export type Settings = ReadonlyMap<string, Said>;

/** A setting was wrong. */
export class SettingError extends Error {
  override name = "SettingError";
}

// Tables of the same file that are read by others.
const OTHER_TABLES: readonly string[] = ["build", "generate"];

/**
 * Reads the settings in a file's table `[operator]`.
 *
 * @param text The file's text, TOML.
 * @param path Its path, for errors.
 * @throws {SettingError} If it is not TOML, has a key that does not exist, or a value that cannot be.
 */
export function fileSettings(text: string, path: string): Settings {
  const where = `"${path}"`;
  const found = new Map<string, Said>();
  const content = parsed(text, where);
  for (const name of Object.keys(content)) {
    if (name !== "operator" && !OTHER_TABLES.includes(name)) refuseKey(where, name, ["operator", ...OTHER_TABLES]);
  }
  const { operator = {} } = content;
  if (!isObject(operator)) throw new SettingError(`Cannot read ${where}: "operator" must be a table`);
  collect(operator, [], { where, found });
  return found;
}

function parsed(text: string, where: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    const place = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : "";
    throw new SettingError(`Cannot read ${where}: it is not TOML${place}`, { cause: error });
  }
}

function collect(
  table: Record<string, unknown>,
  path: readonly string[],
  context: { readonly where: string; readonly found: Map<string, Said> },
): void {
  const { where, found } = context;
  const known = namesAt(path);
  for (const [name, value] of Object.entries(table)) {
    const at = [...path, name];
    const setting = SETTINGS.find(({ key }) => matches(key, at));
    if (setting !== undefined) {
      found.set(at.join("."), { value: checked(setting, value, `"${at.join(".")}" in ${where}`), where });
    } else if (known.includes("*") || namesAt(at).length > 0) {
      if (!isObject(value)) throw new SettingError(`Cannot read ${where}: "${at.join(".")}" must be a table`);
      collect(value, at, context);
    } else refuseKey(where, at.join("."), known.map((one) => [...path, one].join(".")));
  }
}

/** The names that may stand in a table. */
function namesAt(path: readonly string[]): string[] {
  const inside = SETTINGS.map(({ key }) => key.split(".")).filter((parts) =>
    parts.length > path.length && path.every((name, i) => parts[i] === name || parts[i] === "*")
  );
  return [...new Set(inside.map((parts) => parts[path.length]!))];
}

function matches(key: string, at: readonly string[]): boolean {
  const parts = key.split(".");
  return parts.length === at.length && parts.every((part, i) => part === "*" || part === at[i]);
}

function refuseKey(where: string, key: string, known: readonly string[]): never {
  const meant = nearest(key, known);
  const hint = meant === undefined ? `there is ${known.join(", ")}` : `did you mean "${meant}"?`;
  throw new SettingError(`Cannot read ${where}: "${key}" is no key: ${hint}`);
}

/**
 * Reads the settings in variables.
 *
 * @param env Answers a variable.
 * @throws {SettingError} If a value cannot be.
 */
export function variableSettings(env: (name: string) => string | undefined): Settings {
  const found = new Map<string, Said>();
  for (const setting of SETTINGS) {
    if (setting.isFileOnly) continue;
    const name = variableOf(setting);
    const text = env(name);
    // An empty variable is what a manifest leaves that sets nothing.
    if (text === undefined || text === "") continue;
    found.set(setting.key, { value: checked(setting, fromText(setting, text), name), where: name });
  }
  return found;
}

/**
 * Reads the settings in flags.
 *
 * @param values As `parseArgs` has them: text, lists of text, true.
 * @throws {SettingError} If a value cannot be.
 */
export function flagSettings(values: Readonly<Record<string, unknown>>): Settings {
  const found = new Map<string, Said>();
  for (const setting of SETTINGS) {
    const { flag, key, type } = setting;
    if (flag === undefined) continue;
    const where = `--${flag}`;
    if (type === "boolean" && values[`no-${flag}`] === true) found.set(key, { value: false, where: `--no-${flag}` });
    const said = values[flag];
    if (said === undefined) continue;
    const value = typeof said === "string" ? fromText(setting, said) : said;
    found.set(key, { value: checked(setting, value, where), where });
  }
  return found;
}

/** All that was said; of two that say one thing the first counts. */
export function merged(...all: readonly Settings[]): Settings {
  return new Map([...all].reverse().flatMap((settings) => [...settings]));
}

function fromText({ type }: Setting, text: string): unknown {
  switch (type) {
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "number":
      return /^\d+$/.test(text) ? Number(text) : text;
    case "list":
      return text.split(",").map((part) => part.trim());
    default:
      return text;
  }
}

function checked(setting: Setting, value: unknown, what: string): Said["value"] {
  const { type, choices } = setting;
  const refuse = (wanted: string): never => {
    throw new SettingError(`Cannot take ${what}: it is ${JSON.stringify(value)}, and must be ${wanted}`);
  };
  if (choices !== undefined && !choices.includes(value as string)) refuse(`one of ${choices.join(", ")}`);
  switch (type) {
    case "boolean":
      return typeof value === "boolean" ? value : refuse("true or false");
    case "number":
      return Number.isInteger(value) && (value as number) > 0 ? value as number : refuse("a positive integer");
    case "list": {
      const list = value as readonly string[];
      const isList = Array.isArray(value) && list.length > 0 &&
        list.every((one) => typeof one === "string" && one !== "");
      return isList ? list : refuse("a list of names, none of them empty");
    }
    case "duration":
      try {
        milliseconds(value as Duration);
      } catch {
        refuse('a duration, such as "30s"');
      }
      return value as string;
    case "text":
      return typeof value === "string" && value !== "" ? value : refuse("a text that is not empty");
  }
}
