/** Decodes protobuf of built-in kinds to JSON. */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { isObject } from "../../../base/json.ts";
import { setOwn } from "../../../base/own.ts";
import { type Field, type Message, messageNamed } from "./messages.ts";
import { SPECIAL, SPECIAL_KEYS } from "./special.ts";

/**
 * Decodes a message.
 *
 * @param message The message.
 * @param bytes The bytes.
 * @returns The JSON value. Unknown fields are dropped.
 * @throws {Error} If the bytes are not valid protobuf.
 */
export function decodeMessage(message: Message, bytes: Uint8Array): unknown {
  const fields = readFields(message, bytes);
  const special = SPECIAL.get(message.name);
  return special === undefined ? fields : special.fromFields(fields);
}

function readFields(message: Message, bytes: Uint8Array): Record<string, unknown> {
  const reader = new BinaryReader(bytes);
  const result: Record<string, unknown> = {};
  const keys = SPECIAL_KEYS.get(message.name);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = message.byNumber.get(number);
    if (field === undefined || wireType !== wireTypeOf(field)) {
      reader.skip(wireType, number);
      continue;
    }
    const key = keys?.[message.fields.indexOf(field)] ?? field.key;
    if (field.isMap) readEntry(reader.bytes(), field, result, key);
    else {
      const value = readValue(reader, field);
      if (key === "") {
        if (isObject(value)) { for (const [name, part] of Object.entries(value)) setOwn(result, name, part); }
      } else if (field.isList) setOwn(result, key, [...result[key] as unknown[] ?? [], value]);
      else if (value !== undefined && !(field.dropsZero && isZero(value))) setOwn(result, key, value);
    }
  }
  return result;
}

function readEntry(bytes: Uint8Array, field: Field, result: Record<string, unknown>, key: string): void {
  const entry = new BinaryReader(bytes);
  const value: Field = { ...field, number: 2, isMap: false };
  let name = "";
  let part: unknown = zeroOf(value);
  while (entry.pos < entry.len) {
    const [number, wireType] = entry.tag();
    if (number === 1) name = entry.string();
    else if (number === 2) part = readValue(entry, value);
    else entry.skip(wireType, number);
  }
  const map = isObject(result[key]) ? result[key] : {};
  setOwn(map, name, part);
  setOwn(result, key, map);
}

function wireTypeOf({ scalar, isMap }: Field): WireType {
  if (isMap || scalar === undefined || scalar === "s" || scalar === "b") return WireType.LengthDelimited;
  if (scalar === "d") return WireType.Bit64;
  return scalar === "f" ? WireType.Bit32 : WireType.Varint;
}

function readValue(reader: BinaryReader, { scalar, message }: Field): unknown {
  switch (scalar) {
    case undefined: {
      const bytes = reader.bytes();
      const inner = messageNamed(message ?? "");
      return inner === undefined ? {} : decodeMessage(inner, bytes);
    }
    case "s":
      return reader.string();
    case "b":
      return base64(reader.bytes());
    case "t":
      return reader.bool();
    case "d":
      return reader.double();
    case "f":
      return reader.float();
    case "u":
    case "v":
      return Number(reader.uint64());
    default:
      return Number(reader.int64());
  }
}

function zeroOf({ scalar }: Field): unknown {
  if (scalar === "s" || scalar === "b") return "";
  if (scalar === "t") return false;
  return scalar === undefined ? {} : 0;
}

function isZero(value: unknown): boolean {
  return value === "" || value === 0 || value === false;
}

function base64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
