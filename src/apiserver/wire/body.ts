/** Bodies of requests: as many bytes as are allowed, as JSON. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { depthFault, jsonTextFault } from "./json_fault.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "./status_error.ts";
import { parseNumbers } from "./written_numbers.ts";
import { readYaml } from "./yaml.ts";

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
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readBytes(request));
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
  // By a reader rather than "for await", which costs as much as a small body takes to be parsed.
  const reader = request.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const part = next.value;
    size += part.length;
    if (size > LARGEST_BODY) {
      await reader.cancel();
      throw tooLarge(LARGEST_BODY);
    }
    parts.push(part);
  }
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only as Uint8Array<ArrayBuffer>;
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
  /** What the server says of keys that are there twice. */
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
  if (type === "application/yaml") return await parseYamlObject(text, kind);
  if (type === "application/vnd.kubernetes.protobuf") {
    throw unsupportedMediaType(OBJECT_TYPES);
  }
  if (type !== "application/json") {
    throw unsupportedMediaType([...OBJECT_TYPES, "application/vnd.kubernetes.protobuf"]);
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw unrecognized(kind, jsonFault(text), text);
  }
  const typed = isObject(value) ? typeFault(value) : undefined;
  if (typed !== undefined) throw unrecognized(kind, typed, text);
  // As if nothing were in it: what must be there is found to be missing later.
  if (value === null) return { value: {}, duplicates: [] };
  if (!isObject(value)) {
    throw unrecognized(kind, untypedFault(value), text);
  }
  // What comes out again as it went in holds no key twice: most clients write JSON as we do, but for the end of the line.
  const isPlain = JSON.stringify(value) === text.trimEnd();
  return { value, duplicates: isPlain ? [] : duplicateKeys(text).map((field) => `duplicate field "${field}"`) };
}

/** What Go says of an object whose version or kind is no text. */
export function typeFault(value: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of ["apiVersion", "kind"]) {
    const part = own(value, key) ?? "";
    if (typeof part !== "string") {
      return `json: cannot unmarshal ${jsonType(part)} into Go struct field .${key} of type string`;
    }
  }
  return undefined;
}

/** What Go says of JSON that is no object where one is to be. */
export function untypedFault(value: unknown): string {
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type ${target}`;
}

/** A type of JSON as Go calls it. */
function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/**
 * A JSON text as a value: halves of characters are no characters, and no more levels than Go reads.
 *
 * @throws {SyntaxError} If it is none.
 */
export function parseJson(text: string): unknown {
  if (depthFault(text) !== undefined) throw new SyntaxError("it is too deep");
  const value: unknown = parseNumbers(text);
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), wellFormed(part)]));
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
  const shown = text === "" || !isMarked ? shownBody(text) : hex(new TextEncoder().encode(text));
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
  if (text === "") return "<empty>";
  // The beginning, by bytes.
  const all = new TextEncoder().encode(text);
  const first = all.subarray(0, SHOWN_BYTES);
  return `${text.startsWith("{") ? new TextDecoder().decode(first) : hex(first)}${
    all.length > SHOWN_BYTES ? " ..." : ""
  }`;
}

// As `summarizeData` of the handlers does it.
const SHOWN_BYTES = 30;

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What Go says of a text that is no JSON. */
export function jsonFault(text: string): string {
  return jsonTextFault(text) ?? "unexpected end of JSON input";
}

/** A body in YAML that is a whole object. */
async function parseYamlObject(text: string, kind: string): Promise<ParsedBody> {
  let body: ParsedBody;
  try {
    body = await readYaml(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): yaml: ${why} (${shownBody(text)})`,
    );
  }
  const { value, duplicates } = body;
  if (!isObject(value ?? {})) throw unrecognized(kind, untypedFault(value), text);
  return { value: value ?? {}, duplicates };
}
