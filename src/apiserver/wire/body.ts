/** Reads and parses the bodies of requests. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { depthError, jsonTextError } from "./json_error.ts";
import { duplicateKeys } from "./json_keys.ts";
import { badRequest, tooLarge, unsupportedMediaType } from "./status_error.ts";
import { parseNumbers } from "./number_sources.ts";
import { readYaml } from "./yaml.ts";
import { jsonTypeName } from "./go_value.ts";

/** Maximum size of a body in bytes (`MaxRequestBodyBytes` of `k8s.io/apiserver/pkg/server`). */
export const MAX_BODY = 3 * 1024 * 1024;

/** Media types of objects. */
export const OBJECT_TYPES: readonly string[] = ["application/json", "application/yaml"];

/**
 * Returns the media type of a request without its parameters. The default is JSON.
 *
 * @param headers The headers.
 */
export function contentType(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() || "application/json";
}

/**
 * Reads a body as a string.
 *
 * @param request The request.
 * @throws {StatusError} If the body is too large.
 */
export async function readBody(request: Request): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readBytes(request));
}

/**
 * Reads the bytes of a body.
 *
 * @param request The request.
 * @throws {StatusError} If the body is too large.
 */
export async function readBytes(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY) {
    await request.body?.cancel();
    throw tooLarge(MAX_BODY);
  }
  if (request.body === null) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let size = 0;
  // Uses a reader, since `for await` costs as much time as parsing a small body.
  const reader = request.body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const part = next.value;
    size += part.length;
    if (size > MAX_BODY) {
      await reader.cancel();
      throw tooLarge(MAX_BODY);
    }
    parts.push(part);
  }
  return concatenate(parts);
}

/** Joins parts. Returns a single part without copying it. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only as Uint8Array<ArrayBuffer>;
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** A parsed body. */
export interface ParsedBody {
  readonly value: unknown;
  /** Messages about duplicate keys. */
  readonly duplicates: readonly string[];
}

/**
 * Parses a body that is an object.
 *
 * @param text The body.
 * @param type Its media type.
 * @param kind The expected kind, for messages.
 * @throws {StatusError} If the media type is not supported, or the body is malformed.
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
    throw unrecognizedError(kind, jsonError(text), text);
  }
  const error = isObject(value) ? typeError(value) : undefined;
  if (error !== undefined) throw unrecognizedError(kind, error, text);
  // The real server treats null as an empty object, and reports missing fields later.
  if (value === null) return { value: {}, duplicates: [] };
  if (!isObject(value)) {
    throw unrecognizedError(kind, notAnObjectError(value), text);
  }
  // A body that equals the JSON of its value has no duplicate keys. Most clients send such a body,
  // with or without a trailing newline.
  const isPlain = JSON.stringify(value) === text.trimEnd();
  return { value, duplicates: isPlain ? [] : duplicateKeys(text).map((field) => `duplicate field "${field}"`) };
}

/** Returns Go's message for an object whose apiVersion or kind is not a string. */
export function typeError(value: Readonly<Record<string, unknown>>): string | undefined {
  for (const key of ["apiVersion", "kind"]) {
    const part = own(value, key) ?? "";
    if (typeof part !== "string") {
      return `json: cannot unmarshal ${jsonTypeName(part)} into Go struct field .${key} of type string`;
    }
  }
  return undefined;
}

/** Returns Go's message for JSON that should be an object. */
export function notAnObjectError(value: unknown): string {
  const target =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${target}`;
}

/**
 * Parses JSON as Go does: lone surrogates are replaced, and the depth is limited.
 *
 * @throws {SyntaxError} If the text is not valid JSON.
 */
export function parseJson(text: string): unknown {
  if (depthError(text) !== undefined) throw new SyntaxError("JSON is nested too deep");
  const value: unknown = parseNumbers(text);
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), wellFormed(part)]));
}

/** Returns the error for a body without a kind. */
export function missingKindError(kind: string, text: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${text}' (${
      bodyPrefix(text)
    })`,
  );
}

/** Returns the error for a body with the media type of protobuf that cannot be decoded. */
export function protobufError(text: string, kind: string): Error {
  const isMarked = text.startsWith("k8s\0");
  const reason = text === ""
    ? "empty data"
    : !isMarked
    ? "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
    : text.length === 4
    ? "empty body"
    : wireError(text.charCodeAt(4) & 7);
  const shown = text === "" || !isMarked ? bodyPrefix(text) : hex(new TextEncoder().encode(text));
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${reason} (${shown})`);
}

/**
 * Returns Go's error message for the wire type of the first field of an invalid protobuf message.
 */
function wireError(wireType: number): string {
  return wireType > 5 ? `proto: illegal wireType ${wireType}` : "unexpected EOF";
}

function unrecognizedError(kind: string, error: string, text: string): Error {
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; json parse error: ${error} (${
      bodyPrefix(text)
    })`,
  );
}

function bodyPrefix(text: string): string {
  if (text === "") return "<empty>";
  // The prefix is limited in bytes, not characters.
  const all = new TextEncoder().encode(text);
  const first = all.subarray(0, SHOWN_BYTES);
  return `${text.startsWith("{") ? new TextDecoder().decode(first) : hex(first)}${
    all.length > SHOWN_BYTES ? " ..." : ""
  }`;
}

// The length of the prefix in bytes, as in `summarizeData` of the handlers.
const SHOWN_BYTES = 30;

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns Go's message for malformed JSON. */
export function jsonError(text: string): string {
  return jsonTextError(text) ?? "unexpected end of JSON input";
}

/** Parses a YAML body that is an object. */
async function parseYamlObject(text: string, kind: string): Promise<ParsedBody> {
  let body: ParsedBody;
  try {
    body = await readYaml(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): yaml: ${reason} (${bodyPrefix(text)})`,
    );
  }
  const { value, duplicates } = body;
  if (!isObject(value ?? {})) throw unrecognizedError(kind, notAnObjectError(value), text);
  return { value: value ?? {}, duplicates };
}
