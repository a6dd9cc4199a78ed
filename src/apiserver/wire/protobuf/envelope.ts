/**
 * The format `application/vnd.kubernetes.protobuf`: four bytes, then a message that contains the
 * type and the bytes of the object (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`).
 */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isObject } from "../../../base/json.ts";
import { own } from "../../../base/own.ts";
import { decodeMessage } from "./decode.ts";
import { encodeMessage } from "./encode.ts";
import { messageOfKind } from "./messages.ts";

export { PROTOBUF } from "./media_type.ts";

/** "k8s" and a zero byte. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];

/**
 * Returns whether the kind of an object has a protobuf message.
 *
 * @param object An object with its kind.
 */
export function hasProtobufForm(object: unknown): object is Record<string, unknown> {
  if (!isObject(object)) return false;
  return messageOfKind(String(own(object, "apiVersion") ?? ""), String(own(object, "kind") ?? "")) !== undefined;
}

/**
 * Encodes an object as protobuf.
 *
 * @param object The object with its kind.
 * @throws {TypeError} If its kind has no protobuf message.
 */
export function toProtobuf(object: Readonly<Record<string, unknown>>): Uint8Array {
  const [apiVersion, kind] = [String(object.apiVersion ?? ""), String(object.kind ?? "")];
  const message = messageOfKind(apiVersion, kind);
  if (message === undefined) {
    throw new TypeError(`Encoding as protobuf failed: kind "${kind}" of "${apiVersion}" has no message. Use JSON.`);
  }
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).string(apiVersion).tag(2, WireType.LengthDelimited).string(kind).join();
  writer.tag(2, WireType.LengthDelimited).bytes(encodeMessage(message, object));
  // The content encoding and type are always present, even if empty.
  writer.tag(3, WireType.LengthDelimited).string("").tag(4, WireType.LengthDelimited).string("");
  const bytes = writer.finish();
  const whole = new Uint8Array(MAGIC.length + bytes.length);
  whole.set(MAGIC);
  whole.set(bytes, MAGIC.length);
  return whole;
}

/**
 * Decodes a protobuf body.
 *
 * @param bytes The body.
 * @returns The object with its kind; `undefined` if the kind is unknown, or the bytes are
 * malformed.
 */
export function fromProtobuf(bytes: Uint8Array): Record<string, unknown> | undefined {
  if (MAGIC.some((byte, i) => bytes[i] !== byte)) return undefined;
  try {
    const { apiVersion, kind, raw } = decodeUnknown(bytes.subarray(MAGIC.length));
    const message = messageOfKind(apiVersion, kind);
    const object = message && decodeMessage(message, raw);
    return isObject(object) ? { kind, apiVersion, ...object } : undefined;
  } catch {
    // The library throws various errors for malformed bytes.
    return undefined;
  }
}

/** Decodes the message `runtime.Unknown`, which contains the type and the bytes of an object. */
function decodeUnknown(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const reader = new BinaryReader(bytes);
  let [apiVersion, kind, raw] = ["", "", new Uint8Array()];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1) {
      const type = new BinaryReader(reader.bytes());
      while (type.pos < type.len) {
        const [part, partType] = type.tag();
        if (part === 1) apiVersion = type.string();
        else if (part === 2) kind = type.string();
        else type.skip(partType, part);
      }
    } else if (number === 2) raw = reader.bytes() as Uint8Array<ArrayBuffer>;
    else reader.skip(wireType, number);
  }
  return { apiVersion, kind, raw };
}

/**
 * Encodes an event of a watch as a frame: its length in four bytes, then the event.
 *
 * @param type Type of the event.
 * @param object The object with its kind.
 */
export function eventFrame(type: string, object: Readonly<Record<string, unknown>>): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.LengthDelimited).string(type);
  writer.tag(2, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.LengthDelimited).bytes(toProtobuf(object)).join();
  const bytes = writer.finish();
  const frame = new Uint8Array(4 + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame.set(bytes, 4);
  return frame;
}
