/**
 * The project file `operator.toml`. Its table `[operator]` has the settings of the running program,
 * the other tables configure builds and generated manifests. Every reader checks the whole file
 * against one list of keys, so a misspelled key is always rejected.
 */
import { parse, stringify, TomlError } from "smol-toml";
import { isObject } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import type { ImageParts } from "../manifests/image.ts";
import type { AdditionalPolicyRule, CertificateSource } from "../manifests/install.ts";
import { PROJECT_SETTINGS, type Setting, SETTINGS } from "./setting_list.ts";
import { SettingError, type Settings, type SettingValue, validated } from "./settings.ts";

/** The contents of the file. */
export interface ConfigFile {
  /** The settings in the table `[operator]`. */
  readonly settings: Settings;
  /** The table `[operator]` alone, as TOML, for the ConfigMap in the cluster. */
  readonly operatorText: string;
  /** Distinguishes operators of the same name. */
  readonly id: string | undefined;
  /** The parts of the image reference, from the table `[build.image]`. */
  readonly image: ImageParts;
  /** The program that builds images, and its arguments. */
  readonly builder: { readonly binary?: string; readonly args?: readonly string[] };
  /**
   * Whether the executable exports traces with Deno's OpenTelemetry, which is fixed at compile
   * time.
   */
  readonly telemetry: boolean;
  /** The port of the Service `kubernetes` in the cluster that the executable is built for. */
  readonly apiserverPort: number | undefined;
  /** The namespace of the operator. */
  readonly namespace: string | undefined;
  /** The source of the webhook certificate. */
  readonly certificates: CertificateSource | undefined;
  /** RBAC rules in addition to those that the declarations need. */
  readonly policies: readonly AdditionalPolicyRule[];
}

const OPERATOR = "operator";

/** All keys of the file. */
const KEYS: readonly Setting[] = [
  ...SETTINGS.map((setting) => ({ ...setting, key: `${OPERATOR}.${setting.key}` })),
  ...PROJECT_SETTINGS,
];

/**
 * Reads the file.
 *
 * @param text The contents of the file, in TOML.
 * @param path The path of the file, for error messages.
 * @throws {SettingError} If it is not TOML, or has an unknown key or an invalid value.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const text = '[operator]\npaused = true\n[build.image]\nregistry = "r.example"\n';
 * const { image, operatorText } = readConfigFile(text, "operator.toml");
 * assert.deepEqual(image, { registry: "r.example" });
 * assert.equal(operatorText, "[operator]\npaused = true\n");
 * ```
 */
export function readConfigFile(text: string, path: string): ConfigFile {
  const where = `"${path}"`;
  const found = new Map<string, SettingValue>();
  const content = parseToml(text, where);
  collect(content, [], { where, found });
  const value = <T>(key: string): T | undefined => found.get(key)?.value as T | undefined;
  const optional = <T>(name: string, key: string): Record<string, T> => {
    const setting = value<T>(key);
    return setting === undefined ? {} : { [name]: setting };
  };
  const settings = [...found].flatMap(([key, setting]) =>
    key.startsWith(`${OPERATOR}.`) ? [[key.slice(OPERATOR.length + 1), setting]] : []
  );
  return {
    settings: new Map(settings as [string, SettingValue][]),
    operatorText: content[OPERATOR] === undefined ? "" : `${stringify({ [OPERATOR]: content[OPERATOR] }).trimEnd()}\n`,
    id: value("project.id"),
    image: {
      ...optional("registry", "build.image.registry"),
      ...optional("repository", "build.image.repository"),
      ...optional("tag", "build.image.tag"),
      ...optional("tagPrefix", "build.image.tag_prefix"),
      ...optional("tagSuffix", "build.image.tag_suffix"),
    },
    builder: {
      ...optional("binary", "build.builder.binary"),
      ...optional("args", "build.builder.args"),
    },
    telemetry: value("build.telemetry") ?? false,
    apiserverPort: value("build.apiserver_port"),
    namespace: value("generate.namespace"),
    certificates: value("generate.webhooks.certificates"),
    policies: value("generate.rbac.policies") ?? [],
  };
}

/**
 * Reads the settings in the table `[operator]` of a file.
 *
 * @param text The contents of the file, in TOML.
 * @param path The path of the file, for error messages.
 * @throws {SettingError} As {@linkcode readConfigFile} does: the other tables are validated too.
 */
export function fileSettings(text: string, path: string): Settings {
  return readConfigFile(text, path).settings;
}

function parseToml(text: string, where: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    const place = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : "";
    throw new SettingError(`Cannot read ${where}: invalid TOML${place}.`, { cause: error });
  }
}

function collect(
  table: Record<string, unknown>,
  path: readonly string[],
  context: { readonly where: string; readonly found: Map<string, SettingValue> },
): void {
  const { where, found } = context;
  const known = namesAt(path);
  for (const [name, value] of Object.entries(table)) {
    const at = [...path, name];
    const setting = KEYS.find(({ key }) => matches(key, at));
    if (setting !== undefined) {
      found.set(at.join("."), { value: validated(setting, value, `"${keyText(at)}" in ${where}`), where });
    } else if (known.includes("*") || namesAt(at).length > 0) {
      if (!isObject(value)) {
        throw new SettingError(`Cannot read ${where}: "${keyText(at)}" must be a table, got ${JSON.stringify(value)}.`);
      }
      collect(value, at, context);
    } else rejectKey(where, keyText(at), known.map((key) => keyText([...path, key])));
  }
}

/** Formats a key for messages. Keys of `[operator]` are shown without the name of the table. */
function keyText(at: readonly string[]): string {
  return (at[0] === OPERATOR && at.length > 1 ? at.slice(1) : at).join(".");
}

/** Returns the keys that a table may have. */
function namesAt(path: readonly string[]): string[] {
  const inside = KEYS.map(({ key }) => key.split(".")).filter((parts) =>
    parts.length > path.length && path.every((name, i) => parts[i] === name || parts[i] === "*")
  );
  return [...new Set(inside.map((parts) => parts[path.length]!))];
}

function matches(key: string, at: readonly string[]): boolean {
  const parts = key.split(".");
  return parts.length === at.length && parts.every((part, i) => part === "*" || part === at[i]);
}

function rejectKey(where: string, key: string, known: readonly string[]): never {
  const suggestion = nearest(key, known);
  const hint = suggestion === undefined ? `Available keys: ${known.join(", ")}.` : `Did you mean "${suggestion}"?`;
  throw new SettingError(`Cannot read ${where}: unknown key "${key}". ${hint}`);
}
