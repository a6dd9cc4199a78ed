/** Settings from flags, variables and a file (`config_file.ts`); the first of these that says something counts, then the code. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { parseLabelSelector } from "../base/label_selector.ts";
import { labelFaults } from "../base/name_rules.ts";
import type { AdditionalPolicyRule } from "../manifests/install.ts";
import { policyRules } from "./policy_setting.ts";
import { type Setting, SETTINGS, variableOf, variableSettingsOf } from "./setting_list.ts";

/** A setting's value, and where it was said. */
export interface RawSettings {
  /** As its setting has it, checked. */
  readonly value: string | number | boolean | readonly string[] | readonly AdditionalPolicyRule[];
  /** In words: `--log-level`, `OP_LOG_LEVEL`, `"operator.toml"`. */
  readonly where: string;
}

/** What was said, by the setting's key; a `*` of the key is what was there in its place. */
export type Settings = ReadonlyMap<string, RawSettings>;

/** A setting was wrong. */
export class SettingError extends Error {
  override name = "SettingError";
}

/**
 * Reads the settings in variables.
 *
 * @param env Answers a variable.
 * @param hasWebhooks Whether those of webhooks are read, too: an operator without any may not.
 * @throws {SettingError} If a value cannot be.
 */
export function variableSettings(env: (name: string) => string | undefined, hasWebhooks = true): Settings {
  const found = new Map<string, RawSettings>();
  for (const setting of variableSettingsOf(hasWebhooks)) {
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
  const found = new Map<string, RawSettings>();
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

/** Settings of which one says what the other does not: some namespaces, or all. */
const RIVALS: Readonly<Record<string, string>> = { namespaces: "all_namespaces", all_namespaces: "namespaces" };

/**
 * All that was said; of two that say one thing the first counts. `--namespace` goes before `all_namespaces` of a variable or the file as well, and the
 * other way round.
 *
 * @throws {SettingError} If one place says both.
 */
export function merged(...all: readonly Settings[]): Settings {
  const result = new Map<string, RawSettings>();
  for (const settings of [...all].reverse()) {
    for (const [key, said] of settings) {
      // That not all are meant says nothing of some.
      if (said.value !== false && Object.hasOwn(RIVALS, key)) result.delete(RIVALS[key]!);
    }
    refuseRivals(settings);
    for (const [key, said] of settings) result.set(key, said);
  }
  return result;
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string" && one !== "");
}

function refuseRivals(settings: Settings): void {
  const [some, all] = [settings.get("namespaces"), settings.get("all_namespaces")];
  if (some === undefined || all?.value !== true) return;
  const [one, other] = some.where === all.where
    ? [`"namespaces" in ${some.where}`, `"all_namespaces"`]
    : [some.where, all.where];
  throw new SettingError(`Cannot take ${one} and ${other}: say one of them`);
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
 * A value that a setting may have.
 *
 * @param setting The setting.
 * @param value What was said.
 * @param what What it was said as, for errors: `"log_level" in "operator.toml"`.
 * @throws {SettingError} If it may not.
 */
export function checked(setting: Setting, value: unknown, what: string): RawSettings["value"] {
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
    case "list":
      return isList(value) ? value : refuse("a list of names, none of them empty");
    case "namespaces": {
      if (!isList(value)) return refuse("a list of names, none of them empty");
      // A pattern would match nothing, and nobody would be told.
      const wrong = value.find((name) => labelFaults(name).length > 0);
      return wrong === undefined ? value : refuse(
        `names of namespaces: "${wrong}" is none, and patterns are not taken: name each, or look at all and choose by "selector"`,
      );
    }
    case "selector":
      return selector(value, refuse);
    case "duration":
      try {
        milliseconds(value as Duration);
      } catch {
        refuse('a duration, such as "30s"');
      }
      return value as string;
    case "rules":
      return policyRules(value, (why) => {
        throw new SettingError(`Cannot take ${what}: ${why}`);
      });
    case "affix":
      return typeof value === "string" ? value : refuse("a text");
    case "text":
      return typeof value === "string" && value !== "" ? value : refuse("a text that is not empty");
  }
}

/** The server would refuse each list of each watch; nobody would be told but by the readiness report. */
function selector(value: unknown, refuse: (wanted: string) => never): string {
  const wanted = "a label selector, such as app=web or tier in (front,back),!legacy";
  if (typeof value !== "string" || value.trim() === "") return refuse(wanted);
  try {
    parseLabelSelector(value);
  } catch (error) {
    return refuse(`${wanted}: ${(error as SyntaxError).message}`);
  }
  return value;
}
