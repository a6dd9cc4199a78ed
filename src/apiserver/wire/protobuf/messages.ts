/** Protobuf messages of built-in kinds: the generated data, parsed on demand. */
import { own } from "../../../base/own.ts";
import { messages } from "../../../openapi/protobuf.gen.ts";

/** A field of a message. */
export interface Field {
  readonly number: number;
  /** Key in JSON; empty for an embedded message, whose fields are inlined. */
  readonly key: string;
  readonly isList: boolean;
  readonly isMap: boolean;
  /** Whether the field is a pointer in Go. */
  readonly isPointer: boolean;
  /** Whether Go's JSON omits the field if it is zero, so that zero equals absent. */
  readonly dropsZero: boolean;
  /** Letter of a scalar type in the generated data; absent for a message. */
  readonly scalar?: string;
  /** Name of a message; absent for a scalar. */
  readonly message?: string;
}

/** A message. */
export interface Message {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byNumber: ReadonlyMap<number, Field>;
}

/** Parsed messages by name. Entries cannot become stale, since the generated data is constant. */
const parsed = new Map<string, Message>();

/**
 * Returns a message by its name, such as `core.v1.Pod`.
 *
 * @param name The name.
 * @returns The message; `undefined` if it does not exist.
 */
export function messageNamed(name: string): Message | undefined {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const text = own(messages, name);
  if (text === undefined) return undefined;
  const fields = text === "" ? [] : text.split(";").map(fieldOf);
  const message = { name, fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
  parsed.set(name, message);
  return message;
}

function fieldOf(text: string): Field {
  const [number = "", key = "", rest = ""] = text.split(" ");
  const [, flags = "", type = ""] = /^([*%?!]*)(.*)$/.exec(rest) ?? [];
  const isList = flags.includes("*");
  const isMap = flags.includes("%");
  return {
    number: Number(number),
    key,
    isList,
    isMap,
    isPointer: flags.includes("?"),
    dropsZero: !isList && !isMap && !flags.includes("?") && !flags.includes("!"),
    ...type.startsWith(":") ? { message: type.slice(1) } : { scalar: type },
  };
}

/**
 * Returns the message of a kind.
 *
 * @param apiVersion Group and version, such as `apps/v1`.
 * @param kind The kind.
 * @returns The message; `undefined` if the kind has none.
 */
export function messageOfKind(apiVersion: string, kind: string): Message | undefined {
  const [version = "", group] = apiVersion.split("/").reverse();
  const [label = "core"] = group === undefined ? [] : group.split(".");
  return messageNamed(`${label}.${version}.${kind}`) ?? messageNamed(`meta.v1.${kind}`);
}
