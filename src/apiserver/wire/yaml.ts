/** Bodies in YAML (`sigs.k8s.io/yaml`). */
import { GO_YAML } from "../../base/go_yaml.ts";
import { setOwn } from "../../base/own.ts";
import { goSyntax } from "./go_value.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest } from "./status_error.ts";

/** A YAML text as it was read. */
export interface ReadYaml {
  readonly value: unknown;
  /** What the server says of keys that are there twice. */
  readonly duplicates: readonly string[];
}

/**
 * A YAML text as JSON.
 *
 * @param text The text.
 * @param prefix What the refusal begins with.
 * @throws {StatusError} If it is not YAML.
 */
export async function parseYaml(text: string, prefix = ""): Promise<unknown> {
  return (await parseYamlKeys(text, prefix)).value;
}

/**
 * A YAML text as JSON, and the keys in it that are there twice. Of several documents the first counts.
 *
 * @param text The text.
 * @param prefix What the refusal begins with.
 * @throws {StatusError} If it is not YAML.
 */
export async function parseYamlKeys(
  text: string,
  prefix = "",
): Promise<ReadYaml> {
  try {
    return await readYaml(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`${prefix}error converting YAML to JSON: yaml: ${why}`);
  }
}

/**
 * Reads a YAML text: of several documents the first. The library is loaded when first needed: most bodies are JSON, also those that call themselves YAML.
 *
 * @throws {SyntaxError} If it is not YAML, with what is wrong as its message.
 */
export async function readYaml(text: string): Promise<ReadYaml> {
  try {
    const value: unknown = JSON.parse(text);
    if (duplicateKeys(text).length === 0) return { value, duplicates: [] };
  } catch {
    // Not JSON: YAML in earnest.
  }
  const { LineCounter, parseAllDocuments } = await import("yaml");
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { ...GO_YAML, lineCounter: lines, prettyErrors: false });
  const [document] = "empty" in documents ? [] : documents;
  if (document === undefined) return { value: null, duplicates: [] };
  const faults = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
  const [fault] = faults;
  if (fault !== undefined) throw new SyntaxError(yamlFault(fault, lines.linePos(fault.pos[0]).line, text));
  const duplicates = document.errors.map(({ pos }) => {
    const key = /^\s*(?:"([^"]*)"|'([^']*)'|([^\s:,{}[\]]+))/.exec(text.slice(pos[0]));
    const name = key?.[1] ?? key?.[2] ?? key?.[3] ?? "";
    return `line ${lines.linePos(pos[0]).line}: key ${JSON.stringify(name)} already set in map`;
  });
  return { value: plain(valueOf(document)), duplicates };
}

/** The value of a document, its aliases followed. */
function valueOf(document: { toJS(options: { mapAsMap: boolean }): unknown }): unknown {
  try {
    return document.toJS({ mapAsMap: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const [, anchor] = /^Unresolved alias .*: (.*)$/.exec(why) ?? [];
    if (anchor !== undefined) throw new SyntaxError(`unknown anchor '${anchor}' referenced`, { cause: error });
    throw new SyntaxError(why.startsWith("Excessive alias") ? "document contains excessive aliasing" : why, {
      cause: error,
    });
  }
}

/** What Go's parser says where ours stops: of what is met most; of the rest our own words. */
function yamlFault(fault: { code: string; message: string }, line: number, text: string): string {
  const isAtEnd = text.split("\n").length === line;
  // What Go's scanner stops at is told with its line, save the first.
  const where = line === 1 ? "" : `line ${line}: `;
  if (fault.code === "TAB_AS_INDENT") return `${where}found character that cannot start any token`;
  if (/^Nested mappings are not allowed/.test(fault.message)) {
    return `${where}mapping values are not allowed in this context`;
  }
  if (fault.code === "BAD_INDENT" && isAtEnd && fault.message.startsWith("Flow")) {
    const closing = fault.message.startsWith("Flow map") ? "}" : "]";
    const isOpen = /[[{,]\s*$/.test(text);
    return `line ${line}: did not find expected ${isOpen ? "node content" : `',' or '${closing}'`}`;
  }
  return `line ${line}: ${fault.message}`;
}

/** Maps as objects, keys as text. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    const object: Record<string, unknown> = {};
    for (const [key, part] of value) {
      if (key === null) throw new SyntaxError("did not find expected key");
      if (typeof key === "object") throw new SyntaxError(`invalid map key: ${goSyntax(plain(key))}`);
      setOwn(object, String(key), plain(part));
    }
    return object;
  }
  if (Array.isArray(value)) return value.map(plain);
  // Bytes in base64 are the text that they stand for.
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}
