/**
 * Settings from flags, environment variables and a file (`config_file.ts`), in this order of
 * precedence. All of them override the options in the code.
 */
import { type Duration, milliseconds } from "../base/duration.ts";
import { parseLabelSelector } from "../base/label_selector.ts";
import { labelErrors } from "../base/name_rules.ts";
import type { AdditionalPolicyRule } from "../manifests/install.ts";
import { policyRules } from "./policy_setting.ts";
import { type Setting, SETTINGS, variableOf, variableSettingsOf } from "./setting_list.ts";

/** A setting's value and its source. */
export interface SettingValue {
  /** The validated value. */
  readonly value: string | number | boolean | readonly string[] | readonly AdditionalPolicyRule[];
  /** The source, for messages: `--log-level`, `OP_LOG_LEVEL`, `"operator.toml"`. */
  readonly where: string;
}

/** Values by the key of the setting. A `*` in the key is replaced by the actual name. */
export type Settings = ReadonlyMap<string, SettingValue>;

/** A setting is invalid. */
export class SettingError extends Error {
  override name = "SettingError";
}

/**
 * Reads the settings in environment variables.
 *
 * @param env Returns a variable.
 * @param hasWebhooks Whether to read the variables for webhooks. The sandbox of an operator without
 *   webhooks does not allow reading them.
 * @throws {SettingError} If a value is invalid.
 */
export function variableSettings(env: (name: string) => string | undefined, hasWebhooks = true): Settings {
  const found = new Map<string, SettingValue>();
  for (const setting of variableSettingsOf(hasWebhooks)) {
    const name = variableOf(setting);
    const text = env(name);
    // A manifest may leave a variable empty instead of removing it.
    if (text === undefined || text === "") continue;
    found.set(setting.key, { value: validated(setting, fromText(setting, text), name), where: name });
  }
  return found;
}

/**
 * Reads the settings in flags.
 *
 * @param values The values of `parseArgs`: strings, lists of strings, `true`.
 * @throws {SettingError} If a value is invalid.
 */
export function flagSettings(values: Readonly<Record<string, unknown>>): Settings {
  const found = new Map<string, SettingValue>();
  for (const setting of SETTINGS) {
    const { flag, key, type } = setting;
    if (flag === undefined) continue;
    const where = `--${flag}`;
    if (type === "boolean" && values[`no-${flag}`] === true) found.set(key, { value: false, where: `--no-${flag}` });
    const raw = values[flag];
    if (raw === undefined) continue;
    const value = typeof raw === "string" ? fromText(setting, raw) : raw;
    found.set(key, { value: validated(setting, value, where), where });
  }
  return found;
}

/** Settings that contradict each other: some namespaces, or all. */
const CONTRADICTIONS: Readonly<Record<string, string>> = { namespaces: "all_namespaces", all_namespaces: "namespaces" };

/**
 * Merges settings; earlier ones win. Of two contradicting settings the earlier source wins too:
 * `--namespace` overrides `all_namespaces` of a variable or the file, and vice versa.
 *
 * @throws {SettingError} If one source has both.
 */
export function merged(...all: readonly Settings[]): Settings {
  const result = new Map<string, SettingValue>();
  for (const settings of [...all].reverse()) {
    for (const [key, { value }] of settings) {
      // `all_namespaces = false` does not override a list of namespaces.
      if (value !== false && Object.hasOwn(CONTRADICTIONS, key)) result.delete(CONTRADICTIONS[key]!);
    }
    rejectContradiction(settings);
    for (const [key, setting] of settings) result.set(key, setting);
  }
  return result;
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string" && one !== "");
}

function rejectContradiction(settings: Settings): void {
  const [some, all] = [settings.get("namespaces"), settings.get("all_namespaces")];
  if (some === undefined || all?.value !== true) return;
  const [one, other] = some.where === all.where
    ? [`"namespaces" in ${some.where}`, `"all_namespaces"`]
    : [some.where, all.where];
  throw new SettingError(`Settings ${one} and ${other} contradict each other. Remove one of them.`);
}

function fromText({ type }: Setting, text: string): unknown {
  switch (type) {
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "number":
      return /^\d+$/.test(text) ? Number(text) : text;
    case "list":
    case "namespaces":
      return text.split(",").map((part) => part.trim());
    default:
      return text;
  }
}

/**
 * Returns the value if it is valid for the setting.
 *
 * @param setting The setting.
 * @param value The value.
 * @param what The name of the setting, for errors: `"log_level" in "operator.toml"`.
 * @throws {SettingError} If it is invalid.
 */
export function validated(setting: Setting, value: unknown, what: string): SettingValue["value"] {
  const { type, choices } = setting;
  const reject: Reject = (wanted, rest = ".", got = value) => {
    throw new SettingError(`Invalid setting ${what}: must be ${wanted}, got ${JSON.stringify(got)}${rest}`);
  };
  if (choices !== undefined && !choices.includes(value as string)) reject(`one of ${choices.join(", ")}`);
  switch (type) {
    case "boolean":
      return typeof value === "boolean" ? value : reject("true or false");
    case "number":
      return Number.isInteger(value) && (value as number) > 0 ? value as number : reject("a positive integer");
    case "list":
      return isList(value) ? value : reject("a list of non-empty names");
    case "namespaces": {
      if (!isList(value)) return reject("a list of non-empty names");
      // A pattern would match no namespace, and no error would be reported.
      const wrong = value.find((name) => labelErrors(name).length > 0);
      if (wrong === undefined) return value;
      return reject("names of namespaces", wrong.includes("*") ? `. ${NO_PATTERNS}` : ".", wrong);
    }
    case "selector":
      return selector(value, reject);
    case "duration":
      try {
        milliseconds(value as Duration);
      } catch {
        reject('a duration, such as "30s"');
      }
      return value as string;
    case "rules":
      return policyRules(value, (why) => {
        throw new SettingError(`Invalid setting ${what}: ${why}`);
      });
    case "affix":
      return typeof value === "string" ? value : reject("a string");
    case "text":
      return typeof value === "string" && value !== "" ? value : reject("a non-empty string");
  }
}

/**
 * Throws a {@linkcode SettingError} that describes a valid value, followed by the rest of the
 * message. `got` is the invalid value, by default the whole value.
 */
type Reject = (wanted: string, rest?: string, got?: unknown) => never;

const NO_PATTERNS = 'Patterns are not supported: list each namespace, or watch all and set "selector".';

/**
 * Validates a selector. Otherwise, the API server would reject each list request of each watch,
 * and only the readiness report would show the error.
 */
function selector(value: unknown, reject: Reject): string {
  const wanted = "a label selector, such as app=web or tier in (front,back),!legacy";
  if (typeof value !== "string" || value.trim() === "") return reject(wanted);
  try {
    parseLabelSelector(value);
  } catch (error) {
    return reject(wanted, `: ${(error as SyntaxError).message}.`);
  }
  return value;
}
