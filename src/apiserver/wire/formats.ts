/**
 * Answers in the format that a client wants: JSON, YAML, protobuf, compressed when they are large;
 * and requests in protobuf.
 */
import { type Form, wantedForm } from "./accept.ts";
import { contentType, readBytes } from "./body.ts";
import { PROTOBUF } from "./protobuf/media_type.ts";
import type { Status, StatusError } from "./status_error.ts";

/** Headers of all answers. */
export const COMMON = { "cache-control": "no-cache, private" };

/** JSON as an answer. */
export function jsonResponse(body: unknown, code = 200, headers: Record<string, string> = {}): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status: code,
    headers: { ...COMMON, "content-type": "application/json", ...headers },
  });
}

/** A Status as an answer. */
export function statusResponse(status: Status, code: number): Response {
  const retry = status.details?.retryAfterSeconds;
  return jsonResponse(status, code, retry === undefined ? {} : { "retry-after": String(retry) });
}

/** A errorResponse, in YAML where the answer was wanted so. */
export async function errorResponse(error: StatusError, headers: Headers): Promise<Response> {
  const answer = statusResponse(error.status, error.code);
  if (wantedForm(headers.get("accept"))?.format !== "yaml") return answer;
  answer.headers.set("content-type", "application/yaml");
  return new Response(await yamlOf(error.status), { status: error.code, headers: answer.headers });
}

/** What an object looks like on the wire, by the object: an event of a watch goes to many. */
const texts = new WeakMap<object, string>();

/** A value as JSON, made once for each object. */
export function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}

/** A value as JSON or YAML. What is to be protobuf is JSON up to the last step. */
export async function encoded(value: unknown, form: Form): Promise<string> {
  return form.format === "yaml" ? await yamlOf(value) : `${textOf(value)}\n`;
}

async function yamlOf(value: unknown): Promise<string> {
  const { Document, parse, Scalar, visit } = await import("yaml");
  const document = new Document(JSON.parse(textOf(value)), { version: "1.1", sortMapEntries: true });
  visit(document, {
    Scalar(_key, node) {
      // What would be read as another type stands in double quotes, what cannot stand plain in
      // single ones.
      if (typeof node.value !== "string" || /[\n"'\\]/.test(node.value)) return;
      if (isAmbiguous(node.value, parse)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ indentSeq: false, singleQuote: true });
}

function isAmbiguous(text: string, parse: (text: string, options: { version: "1.1" }) => unknown): boolean {
  if (!/^(?:[-+.\d]|~$|null$|y$|n$|yes$|no$|on$|off$|true$|false$)/i.test(text)) return false;
  try {
    return typeof parse(text, { version: "1.1" }) !== "string";
  } catch {
    return false;
  }
}

/**
 * A request whose body is JSON: one in protobuf is read and written anew. What cannot be read is
 * left as it is, for others to refuse.
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

/** Answers that go on: they are not looked into. */
const streams = new WeakSet<Response>();

/** Marks an answer as one that goes on. */
export function streaming(response: Response): Response {
  streams.add(response);
  return response;
}

// As `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`: smaller ones are not worth it.
const LEAST_COMPRESSED = 128 * 1024;

/**
 * An answer in the format that the client wants: as protobuf where it asks for that first and the
 * object has such a form, and compressed where it is large and the client takes that.
 *
 * @param response The answer, in JSON or YAML.
 * @param headers The headers of the request.
 */
export async function inAcceptedFormat(response: Response, headers: Headers): Promise<Response> {
  if (streams.has(response) || response.body === null) return response;
  const isJson = response.headers.get("content-type") === "application/json";
  const wantsProtobuf = isJson && wantedForm(headers.get("accept"))?.format === "protobuf";
  const takesGzip = /(?:^|,)\s*gzip\s*(?:;|,|$)/.test(headers.get("accept-encoding") ?? "");
  if (!wantsProtobuf && !takesGzip) return response;
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
  if (!takesGzip || body.length < LEAST_COMPRESSED) return new Response(body, init);
  init.headers.set("content-encoding", "gzip");
  init.headers.append("vary", "Accept-Encoding");
  return new Response(new Blob([body]).stream().pipeThrough(new CompressionStream("gzip")), init);
}
