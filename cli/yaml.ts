/** Reads and writes YAML like kubectl. */
import { Document, parseAllDocuments } from "yaml";
import { GO_YAML, type GoYaml, isObject, setOwn } from "./internal/mod.gen.ts";
import { Failure } from "./exit_code.ts";

/**
 * Reads YAML as kubectl does: version 1.1, in which `010` is 8 and `yes` is true. Duplicate keys
 * are errors.
 *
 * @param text The documents.
 * @param shown The name of the source in errors, with quotes.
 * @param dialect How scalars are resolved. @default {as kubectl does}
 * @returns One value per document, `null` for an empty one.
 * @throws {Failure} If the text is not YAML, or has a value that JSON cannot represent.
 */
export function yamlDocuments(text: string, shown: string, dialect: GoYaml = GO_YAML): unknown[] {
  return [...parseAllDocuments(text, dialect)].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Failure(`Cannot read ${shown}: ${error.message.trimEnd()}`, { cause: error });
    let value: unknown;
    try {
      value = document.toJS();
    } catch (error) {
      throw new Failure(`Cannot read ${shown}: ${(error as Error).message}`, { cause: error });
    }
    return asJson(value, shown, []);
  });
}

/**
 * Converts a value of YAML to JSON, as kubectl does.
 *
 * @param path Keys and indexes that lead to the value, for errors.
 * @param known Converted values by the value that they were converted from, because several aliases
 *   may refer to one value. The entry is `undefined` while the value is being converted.
 */
function asJson(
  value: unknown,
  shown: string,
  path: readonly (string | number)[],
  known = new Map<unknown, object | undefined>(),
): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Failure(`Cannot read ${shown}: ${value} cannot be represented in JSON. Quote it if it is a string.`);
  }
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (known.has(value)) {
    const converted = known.get(value);
    if (converted !== undefined) return converted;
    throw new Failure(`Cannot read ${shown}: "${path.join(".")}" must not contain itself. Remove the alias.`);
  }
  if (!Array.isArray(value) && !isObject(value)) return value;
  known.set(value, undefined);
  const converted = Array.isArray(value)
    ? value.map((item, index) => asJson(item, shown, [...path, index], known))
    : fieldsAsJson(value);
  known.set(value, converted);
  return converted;

  function fieldsAsJson(fields: object): object {
    const object = {};
    for (const [key, item] of Object.entries(fields)) setOwn(object, key, asJson(item, shown, [...path, key], known));
    return object;
  }
}

/** Options of {@linkcode yamlDocument}. */
export interface YamlOptions {
  /** Whether to sort keys. @default {false} */
  readonly sortKeys?: boolean;
}

/**
 * Returns a YAML document. Strings that YAML 1.1 reads as something else, such as `yes`, `on` or
 * `22:22`, are quoted.
 *
 * @param value The value.
 * @param options Additional options.
 */
export function yamlDocument(value: unknown, { sortKeys = false }: YamlOptions = {}): Document {
  return new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1", sortMapEntries: sortKeys });
}

/** Formats a document. Long lines are not folded. */
export function formatDocument(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

/** Returns a value as a YAML document: see {@linkcode yamlDocument}. */
export function toYaml(value: unknown, options: YamlOptions = {}): string {
  return formatDocument(yamlDocument(value, options));
}

/**
 * Returns data as JSON or YAML.
 *
 * @param value The data.
 * @param form `json` or `yaml`.
 */
export function printed(value: unknown, form: "json" | "yaml"): string {
  return form === "json" ? `${JSON.stringify(value, null, 2)}\n` : toYaml(value);
}
