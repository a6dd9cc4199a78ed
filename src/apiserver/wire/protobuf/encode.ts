/** Encodes JSON of built-in kinds as protobuf. */
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { isObject } from "../../../base/json.ts";
import { own } from "../../../base/own.ts";
import { type Field, type Message, messageNamed } from "./messages.ts";
import { SPECIAL, SPECIAL_KEYS } from "./special.ts";

/**
 * Encodes an object as a message.
 *
 * @param message The message.
 * @param value The object. Keys without a field in the message are dropped.
 */
export function encodeMessage(message: Message, value: unknown): Uint8Array {
  const writer = new BinaryWriter();
  write(writer, message, value);
  return writer.finish();
}

function write(writer: BinaryWriter, message: Message, value: unknown): void {
  const special = SPECIAL.get(message.name);
  const object = special === undefined ? value : special.toFields(value);
  if (!isObject(object)) return;
  const keys = SPECIAL_KEYS.get(message.name);
  for (const [i, field] of message.fields.entries()) {
    const key = keys?.[i] ?? field.key;
    if (key === "") writeInline(writer, field, object);
    else writeField(writer, field, own(object, key));
  }
}

/**
 * Writes an embedded message, whose fields are those of the object itself; omits it if it is empty.
 */
function writeInline(writer: BinaryWriter, field: Field, object: Record<string, unknown>): void {
  const inner = messageNamed(field.message ?? "");
  if (inner === undefined) return;
  const bytes = encodeMessage(inner, object);
  if (bytes.length > 0) writer.tag(field.number, WireType.LengthDelimited).bytes(bytes);
}

function writeField(writer: BinaryWriter, field: Field, value: unknown): void {
  if (value === undefined || value === null) return;
  if (field.isMap) {
    if (!isObject(value)) return;
    for (const key of Object.keys(value).sort()) {
      writer.tag(field.number, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(key);
      writeValue(writer, { ...field, number: 2 }, value[key]);
      writer.join();
    }
  } else if (field.isList) {
    if (Array.isArray(value)) { for (const item of value) writeValue(writer, field, item); }
  } else writeValue(writer, field, value);
}

function writeValue(writer: BinaryWriter, { number, scalar, message }: Field, value: unknown): void {
  if (message !== undefined) {
    const inner = messageNamed(message);
    if (inner === undefined) return;
    writer.tag(number, WireType.LengthDelimited).fork();
    write(writer, inner, value);
    writer.join();
    return;
  }
  switch (scalar) {
    case "s":
      writer.tag(number, WireType.LengthDelimited).string(String(value));
      return;
    case "b":
      writer.tag(number, WireType.LengthDelimited).bytes(bytesOf(String(value)));
      return;
    case "t":
      writer.tag(number, WireType.Varint).bool(value === true);
      return;
    case "d":
      writer.tag(number, WireType.Bit64).double(Number(value));
      return;
    case "f":
      writer.tag(number, WireType.Bit32).float(Number(value));
      return;
    case "u":
    case "v":
      writer.tag(number, WireType.Varint).uint64(BigInt(Math.trunc(Number(value))));
      return;
    default:
      writer.tag(number, WireType.Varint).int64(BigInt(Math.trunc(Number(value))));
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
