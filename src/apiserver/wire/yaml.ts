/** Parses bodies in YAML (`sigs.k8s.io/yaml`). */
import { GO_YAML } from "../../base/go_yaml.ts";
import { setOwn } from "../../base/own.ts";
import { goSyntax } from "./go_value.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest } from "./status_error.ts";

/** A parsed YAML document. */
export interface ParsedYaml {
  readonly value: unknown;
  /** Messages about duplicate keys. */
  readonly duplicates: readonly string[];
}

/**
 * Parses YAML to JSON.
 *
 * @param text The YAML.
 * @param prefix Prefix of the error message.
 * @throws {StatusError} If it is malformed.
 */
export async function parseYaml(text: string, prefix = ""): Promise<unknown> {
  return (await parseYamlWithDuplicates(text, prefix)).value;
}

/**
 * Parses YAML to JSON, and finds duplicate keys. If there are several documents, the first is used.
 *
 * @param text The YAML.
 * @param prefix Prefix of the error message.
 * @throws {StatusError} If it is malformed.
 */
export async function parseYamlWithDuplicates(
  text: string,
  prefix = "",
): Promise<ParsedYaml> {
  try {
    return await readYaml(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badRequest(`${prefix}error converting YAML to JSON: yaml: ${reason}`);
  }
}

/**
 * Parses the first document of YAML. The library is loaded on demand, since most bodies are JSON,
 * even those with a media type of YAML.
 *
 * @throws {SyntaxError} If it is malformed.
 */
export async function readYaml(text: string): Promise<ParsedYaml> {
  try {
    const value: unknown = JSON.parse(text);
    if (duplicateKeys(text).length === 0) return { value, duplicates: [] };
  } catch {
    // Not JSON, so it is parsed as YAML.
  }
  const { isAlias, isNode, LineCounter, parseAllDocuments, visit } = await import("yaml");
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { ...GO_YAML, lineCounter: lines, prettyErrors: false });
  const [document] = "empty" in documents ? [] : documents;
  if (document === undefined) return { value: null, duplicates: [] };
  const errors = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
  const [error] = errors;
  if (error !== undefined) throw new SyntaxError(yamlError(error, lines.linePos(error.pos[0]).line, text));
  const duplicates = document.errors.map(({ pos }) => {
    const key = /^\s*(?:"([^"]*)"|'([^']*)'|([^\s:,{}[\]]+))/.exec(text.slice(pos[0]));
    const name = key?.[1] ?? key?.[2] ?? key?.[3] ?? "";
    return `line ${lines.linePos(pos[0]).line}: key ${JSON.stringify(name)} already set in map`;
  });
  try {
    return { value: toJson(document.toJS({ mapAsMap: true })), duplicates };
  } catch (cause) {
    // The library throws a ReferenceError for an alias without an anchor, and for too many aliases.
    if (!(cause instanceof ReferenceError)) throw cause;
    const anchors = new Set<string>();
    visit(document, (_, node) => {
      if (isAlias(node)) {
        if (!anchors.has(node.source)) throw new SyntaxError(`unknown anchor '${node.source}' referenced`, { cause });
      } else if (isNode(node) && node.anchor !== undefined) anchors.add(node.anchor);
    });
    throw new SyntaxError("document contains excessive aliasing", { cause });
  }
}

/**
 * Returns the message of Go's parser for the most frequent errors, and the message of the library
 * for the others.
 */
function yamlError(error: { code: string; message: string }, line: number, text: string): string {
  const isAtEnd = text.split("\n").length === line;
  // Go's scanner omits the number of the first line.
  const where = line === 1 ? "" : `line ${line}: `;
  if (error.code === "TAB_AS_INDENT") return `${where}found character that cannot start any token`;
  if (error.code === "BLOCK_AS_IMPLICIT_KEY") return `${where}mapping values are not allowed in this context`;
  const closing = isAtEnd ? missingBracket(error) : undefined;
  if (closing !== undefined) {
    const isOpen = /[[{,]\s*$/.test(text);
    return `line ${line}: did not find expected ${isOpen ? "node content" : `',' or '${closing}'`}`;
  }
  return `line ${line}: ${error.message}`;
}

/**
 * Returns the missing closing bracket of a flow collection. The library uses one code for all
 * indentation errors, so only its message identifies the collection.
 */
function missingBracket({ code, message }: { code: string; message: string }): "}" | "]" | undefined {
  if (code !== "BAD_INDENT") return undefined;
  const [, bracket] = /^Flow (?:map|sequence) in block collection .* end with a ([}\]])$/.exec(message) ?? [];
  return bracket as "}" | "]" | undefined;
}

/** Converts maps to objects, and keys to strings. */
function toJson(value: unknown): unknown {
  if (value instanceof Map) {
    const object: Record<string, unknown> = {};
    for (const [key, part] of value) {
      if (key === null) throw new SyntaxError("did not find expected key");
      if (typeof key === "object") throw new SyntaxError(`invalid map key: ${goSyntax(toJson(key))}`);
      setOwn(object, String(key), toJson(part));
    }
    return object;
  }
  if (Array.isArray(value)) return value.map(toJson);
  // Binary values are decoded as UTF-8.
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
}
