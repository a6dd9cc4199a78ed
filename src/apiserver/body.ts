/** Bodies of requests: as many bytes as are allowed, as JSON. */
import { isObject } from "../base/json.ts";
import { setOwn } from "../base/own.ts";
import { jsonTextFault } from "./json_fault.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "./status_error.ts";

/** The most bytes a body may have. */
export const LARGEST_BODY = 3 * 1024 * 1024;

/** The media types a whole object may come in. */
export const OBJECT_TYPES: readonly string[] = ["application/json", "application/yaml"];

/**
 * The media type of a request, without parameters; JSON where it says none.
 *
 * @param headers The headers.
 */
export function contentType(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() || "application/json";
}

/**
 * A body as text.
 *
 * @param request The request.
 * @throws {StatusError} If it is too large.
 */
export async function readBody(request: Request): Promise<string> {
  return new TextDecoder().decode(await readBytes(request));
}

/**
 * The bytes of a body.
 *
 * @param request The request.
 * @throws {StatusError} If there are too many.
 */
export async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get("content-length") ?? 0) > LARGEST_BODY) {
    await request.body?.cancel();
    throw tooLarge(LARGEST_BODY);
  }
  if (request.body === null) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the body.
  for await (const part of request.body) {
    size += part.length;
    if (size > LARGEST_BODY) throw tooLarge(LARGEST_BODY);
    parts.push(part);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A body as it was read. */
export interface ParsedBody {
  readonly value: unknown;
  /** Keys that were there twice, such as `data.a`. */
  readonly duplicates: readonly string[];
}

/**
 * A body that is a whole object.
 *
 * @param text The body.
 * @param type Its media type.
 * @param kind What it must be, for the message.
 * @throws {StatusError} If it is not of a known type, or not readable.
 */
export async function parseObject(text: string, type: string, kind: string): Promise<ParsedBody> {
  if (type === "application/yaml") return { value: await parseYaml(text), duplicates: [] };
  if (type === "application/vnd.kubernetes.protobuf") {
    throw unsupportedMediaType(OBJECT_TYPES);
  }
  if (type !== "application/json") {
    throw unsupportedMediaType([...OBJECT_TYPES, "application/vnd.kubernetes.protobuf"]);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unrecognized(kind, jsonFault(text), text);
  }
  if (value === null) throw kindMissing(kind, text);
  if (!isObject(value)) {
    const type = Array.isArray(value) ? "array" : typeof value;
    const target =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw unrecognized(kind, `json: cannot unmarshal ${type} into Go value of type ${target}`, text);
  }
  return { value, duplicates: duplicateKeys(text) };
}

/** The refusal of a body that does not say what it is. */
export function kindMissing(kind: string, text: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${text}' (${
      shownBody(text)
    })`,
  );
}

/** The refusal of a body that calls itself protobuf and could not be read as such. */
export function protobufFault(text: string, kind: string): Error {
  const isMarked = text.startsWith("k8s\0");
  const why = text === ""
    ? "empty data"
    : !isMarked
    ? "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    : text.length === 4
    ? "empty body"
    : wireFault(text.charCodeAt(4) & 7);
  const shown = text === "" || !isMarked ? shownBody(text) : hex(text);
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${shown})`);
}

/** What Go says of the first bytes of a message that is none. */
function wireFault(wireType: number): string {
  return wireType > 5 ? `proto: illegal wireType ${wireType}` : "unexpected EOF";
}

function unrecognized(kind: string, fault: string, text: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${fault} (${
      shownBody(text)
    })`,
  );
}

function shownBody(text: string): string {
  const shown = text === "" ? "<empty>" : text.startsWith("{") ? text : hex(text);
  return shown.length > 1024 ? `${shown.slice(0, 1024)} [truncated ${shown.length - 1024} chars]` : shown;
}

function hex(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What Go says of a text that is no JSON. */
export function jsonFault(text: string): string {
  return jsonTextFault(text) ?? "unexpected end of JSON input";
}

/** Keys that an object of a JSON text holds twice. The text is known to be JSON. */
export function duplicateKeys(text: string): string[] {
  const found: string[] = [];
  const levels: { seen: Set<string> | undefined; path: string; key: string; index: number }[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;
  let expectsKey = false;
  for (const [part] of text.matchAll(token)) {
    const level = levels.at(-1);
    if (part === "{" || part === "[") {
      const path = level === undefined ? "" : here(level);
      levels.push({ seen: part === "{" ? new Set() : undefined, path, key: "", index: 0 });
      expectsKey = part === "{";
    } else if (part === "}" || part === "]") {
      levels.pop();
      expectsKey = false;
    } else if (part === ",") {
      if (level !== undefined) level.index++;
      expectsKey = level?.seen !== undefined;
    } else if (expectsKey && part.startsWith('"') && level?.seen !== undefined) {
      const key = JSON.parse(part) as string;
      level.key = key;
      if (level.seen.has(key)) found.push(here(level));
      level.seen.add(key);
      expectsKey = false;
    }
  }
  return [...new Set(found)];
}

function here(
  { seen, path, key, index }: { seen: Set<string> | undefined; path: string; key: string; index: number },
): string {
  if (seen === undefined) return `${path}[${index}]`;
  return path === "" ? key : `${path}.${key}`;
}

/**
 * A YAML text as JSON. The library is loaded when first needed: most bodies are JSON, also those that call themselves YAML.
 *
 * @param text The text.
 * @param prefix What the refusal begins with.
 * @throws {StatusError} If it is not YAML.
 */
export async function parseYaml(text: string, prefix = ""): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: YAML in earnest.
  }
  const { parse } = await import("yaml");
  try {
    return plain(parse(text, { mapAsMap: true, version: "1.1" }));
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split(":\n");
    throw badRequest(`${prefix}error converting YAML to JSON: yaml: ${why}`);
  }
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
): Promise<{ readonly value: unknown; readonly duplicates: readonly string[] }> {
  try {
    const value: unknown = JSON.parse(text);
    if (duplicateKeys(text).length === 0) return { value, duplicates: [] };
  } catch {
    // Not JSON: YAML in earnest.
  }
  const { LineCounter, parseAllDocuments } = await import("yaml");
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { version: "1.1", lineCounter: lines, prettyErrors: false });
  const [document] = "empty" in documents ? [] : documents;
  if (document === undefined) return { value: null, duplicates: [] };
  const faults = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY");
  const [fault] = faults;
  try {
    if (fault !== undefined) throw fault;
    const duplicates = document.errors.map(({ pos }) => {
      const key = /^\s*(?:"([^"]*)"|'([^']*)'|([^\s:,{}[\]]+))/.exec(text.slice(pos[0]));
      const name = key?.[1] ?? key?.[2] ?? key?.[3] ?? "";
      return `line ${lines.linePos(pos[0]).line}: key ${JSON.stringify(name)} already set in map`;
    });
    return { value: plain(document.toJS({ mapAsMap: true })), duplicates };
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split(":\n");
    throw badRequest(`${prefix}error converting YAML to JSON: yaml: ${why}`);
  }
}

/** Maps as objects, keys as text. */
function plain(value: unknown): unknown {
  if (value instanceof Map) {
    const object: Record<string, unknown> = {};
    for (const [key, part] of value) {
      if (key === null) throw new SyntaxError("did not find expected key");
      setOwn(object, String(key), plain(part));
    }
    return object;
  }
  if (Array.isArray(value)) return value.map(plain);
  return value instanceof Date ? value.toISOString() : value;
}
