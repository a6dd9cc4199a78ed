/** Protobuf messages of the built-in kinds: the generated ones, each read when it is first met. */
import { own } from "../../../base/own.ts";
import { messages } from "../../../openapi/protobuf.gen.ts";

/** A field of a message. */
export interface Field {
  readonly number: number;
  /** Its key in JSON; empty where the fields of its message stand in place of it. */
  readonly key: string;
  readonly isList: boolean;
  readonly isMap: boolean;
  /** Whether Go leaves it out of JSON when it is zero, which then means that nobody set it. */
  readonly dropsZero: boolean;
  /** A letter for a scalar, as the generated data has it; absent for a message. */
  readonly scalar?: string;
  /** The name of a message; absent for a scalar. */
  readonly message?: string;
}

/** A message. */
export interface Message {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly byNumber: ReadonlyMap<number, Field>;
}

const read = new Map<string, Message>();

/**
 * A message by its name, such as `core.v1.Pod`.
 *
 * @param name The name.
 * @returns Nothing where there is none of the name.
 */
export function messageNamed(name: string): Message | undefined {
  const known = read.get(name);
  if (known !== undefined) return known;
  const text = own(messages, name);
  if (text === undefined) return undefined;
  const fields = text === "" ? [] : text.split(";").map(fieldOf);
  const message = { name, fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
  read.set(name, message);
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
    dropsZero: !isList && !isMap && !flags.includes("?") && !flags.includes("!"),
    ...type.startsWith(":") ? { message: type.slice(1) } : { scalar: type },
  };
}

/**
 * The message of a kind.
 *
 * @param apiVersion Its group and version, such as `apps/v1`.
 * @param kind Its kind.
 * @returns Nothing where the kind has no protobuf form.
 */
export function messageOfKind(apiVersion: string, kind: string): Message | undefined {
  const [version = "", group] = apiVersion.split("/").reverse();
  const [label = "core"] = group === undefined ? [] : group.split(".");
  return messageNamed(`${label}.${version}.${kind}`) ?? messageNamed(`meta.v1.${kind}`);
}
