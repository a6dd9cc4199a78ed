/** Converts protobuf responses to JSON, so that they can be compared like all others. */
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { fromProtobuf, PROTOBUF } from "../../src/apiserver/wire/protobuf/envelope.ts";

/**
 * Returns a response with a JSON body. If its body is malformed protobuf, the body is the error.
 *
 * @param response The response.
 */
export function withJsonBody(response: Response): Response {
  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(PROTOBUF) || response.body === null) return response;
  const init = { status: response.status, headers: response.headers };
  if (type.includes("stream=watch")) return new Response(response.body.pipeThrough(new Frames()), init);
  const whole = new TransformStream<Uint8Array, Uint8Array>(transformWhole((bytes) => encode(fromProtobuf(bytes))));
  return new Response(response.body.pipeThrough(whole), init);
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value ?? "no object in protobuf"));
}

/** Converts a whole body. */
function transformWhole(turn: (bytes: Uint8Array) => Uint8Array): Transformer<Uint8Array, Uint8Array> {
  let bytes = new Uint8Array();
  return {
    transform: (part) => void (bytes = concatenate(bytes, part)),
    flush: (controller) => controller.enqueue(turn(bytes)),
  };
}

function concatenate(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Converts the frames of a watch to lines of JSON. */
class Frames extends TransformStream<Uint8Array, Uint8Array> {
  constructor() {
    let rest = new Uint8Array();
    super({
      transform(part, controller) {
        rest = concatenate(rest, part);
        while (rest.length >= 4) {
          const length = new DataView(rest.buffer, rest.byteOffset).getUint32(0);
          if (rest.length < 4 + length) break;
          controller.enqueue(jsonLineOf(rest.subarray(4, 4 + length)));
          rest = rest.slice(4 + length);
        }
      },
    });
  }
}

function jsonLineOf(frame: Uint8Array): Uint8Array {
  const reader = new BinaryReader(frame);
  let [type, object]: [string, unknown] = ["", undefined];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) type = reader.string();
    else if (number === 2) {
      const extension = new BinaryReader(reader.bytes());
      while (extension.pos < extension.len) {
        const [part, partType] = extension.tag();
        if (part === 1) object = fromProtobuf(extension.bytes());
        else extension.skip(partType, part);
      }
    } else reader.skip(wireType, number);
  }
  return new TextEncoder().encode(`${JSON.stringify({ type, object })}\n`);
}
