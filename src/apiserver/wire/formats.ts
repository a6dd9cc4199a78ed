/**
 * Encodes responses as JSON, YAML or protobuf, compresses large ones, and decodes requests in
 * protobuf.
 */
import { acceptedForm, type Form } from "./accept.ts";
import { contentType, readBytes } from "./body.ts";
import { PROTOBUF } from "./protobuf/media_type.ts";
import type { Status, StatusError } from "./status_error.ts";

/** Headers of all responses. */
export const COMMON_HEADERS = { "cache-control": "no-cache, private" };

/** Returns a JSON response. */
export function jsonResponse(body: unknown, code = 200, headers: Record<string, string> = {}): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status: code,
    headers: { ...COMMON_HEADERS, "content-type": "application/json", ...headers },
  });
}

/** Returns a response with a Status. */
export function statusResponse(status: Status, code: number): Response {
  const retry = status.details?.retryAfterSeconds;
  return jsonResponse(status, code, retry === undefined ? {} : { "retry-after": String(retry) });
}

/** Returns the response for an error, as YAML if the client accepts that. */
export async function errorResponse(error: StatusError, headers: Headers): Promise<Response> {
  const response = statusResponse(error.status, error.code);
  if (acceptedForm(headers.get("accept"))?.format !== "yaml") return response;
  response.headers.set("content-type", "application/yaml");
  return new Response(await toYaml(error.status), { status: error.code, headers: response.headers });
}

/**
 * JSON by object, since many watches may send the same object. Entries cannot become stale, because
 * objects are not changed after they are stored.
 */
const jsonByObject = new WeakMap<object, string>();

/** Formats a value as JSON. The result for an object is cached. */
export function jsonOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const known = jsonByObject.get(value);
  if (known !== undefined) return known;
  const json = JSON.stringify(value);
  jsonByObject.set(value, json);
  return json;
}

/** Encodes a value as JSON or YAML. Protobuf is converted from JSON later. */
export async function encodeBody(value: unknown, form: Form): Promise<string> {
  return form.format === "yaml" ? await toYaml(value) : `${jsonOf(value)}\n`;
}

async function toYaml(value: unknown): Promise<string> {
  const { Document, parse, Scalar, visit } = await import("yaml");
  const document = new Document(JSON.parse(jsonOf(value)), { version: "1.1", sortMapEntries: true });
  visit(document, {
    Scalar(_key, node) {
      // As in Go, strings that YAML would parse as another type have double quotes, and strings
      // with special characters have single quotes.
      if (typeof node.value !== "string" || /[\n"'\\]/.test(node.value)) return;
      if (isAmbiguous(node.value, parse)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ indentSeq: false, singleQuote: true });
}

function isAmbiguous(json: string, parse: (json: string, options: { version: "1.1" }) => unknown): boolean {
  if (!/^(?:[-+.\d]|~$|null$|y$|n$|yes$|no$|on$|off$|true$|false$)/i.test(json)) return false;
  try {
    return typeof parse(json, { version: "1.1" }) !== "string";
  } catch {
    return false;
  }
}

/**
 * Returns a request with a JSON body. A protobuf body is converted. A body that cannot be decoded
 * is not changed, and is rejected later.
 *
 * @param request The request.
 * @throws {StatusError} If the body is too large.
 */
export async function requestAsJson(request: Request): Promise<Request> {
  if (contentType(request.headers) !== PROTOBUF || request.body === null) return request;
  const bytes = await readBytes(request);
  const { url, method, signal } = request;
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  const { fromProtobuf } = await import("./protobuf/envelope.ts");
  const object = fromProtobuf(bytes);
  if (object === undefined) return new Request(url, { method, headers, signal, body: bytes });
  headers.set("content-type", "application/json");
  return new Request(url, { method, headers, signal, body: JSON.stringify(object) });
}

/**
 * The responses that {@linkcode markAsStreaming} has marked. Their bodies must not be read here.
 */
const streams = new WeakSet<Response>();

/** Marks a response as streaming. */
export function markAsStreaming(response: Response): Response {
  streams.add(response);
  return response;
}

// Smaller responses are not compressed (`k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`).
const MIN_COMPRESSED = 128 * 1024;

/**
 * Returns a response in the format that the client accepts: as protobuf if the client prefers it
 * and the kind has a protobuf message, and compressed if it is large and the client accepts gzip.
 *
 * @param response The response in JSON or YAML.
 * @param headers Headers of the request.
 */
export async function inAcceptedFormat(response: Response, headers: Headers): Promise<Response> {
  if (streams.has(response) || response.body === null) return response;
  const isJson = response.headers.get("content-type") === "application/json";
  const wantsProtobuf = isJson && acceptedForm(headers.get("accept"))?.format === "protobuf";
  const acceptsGzip = /(?:^|,)\s*gzip\s*(?:;|,|$)/.test(headers.get("accept-encoding") ?? "");
  if (!wantsProtobuf && !acceptsGzip) return response;
  let body = new Uint8Array(await response.arrayBuffer());
  if (wantsProtobuf) {
    const object: unknown = JSON.parse(new TextDecoder().decode(body));
    const { hasProtobufForm, toProtobuf } = await import("./protobuf/envelope.ts");
    if (hasProtobufForm(object)) {
      body = toProtobuf(object) as Uint8Array<ArrayBuffer>;
      response.headers.set("content-type", PROTOBUF);
    }
  }
  const init = { status: response.status, headers: response.headers };
  if (!acceptsGzip || body.length < MIN_COMPRESSED) return new Response(body, init);
  init.headers.set("content-encoding", "gzip");
  init.headers.append("vary", "Accept-Encoding");
  return new Response(new Blob([body]).stream().pipeThrough(new CompressionStream("gzip")), init);
}
