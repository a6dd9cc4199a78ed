/** Fields of built-in kinds that the server does not keep when they are zero: of Go's types those that are no pointers, with `omitempty`. */
import { messageNamed } from "../wire/protobuf/messages.ts";

const found = new Map<string, ReadonlySet<string>>();

/**
 * The fields of a definition of which Go does not tell zero from nothing: false, 0 and the empty text are gone once they were read.
 *
 * @param definition The name of the definition, such as `io.k8s.api.core.v1.Container`.
 */
export function zeroFields(definition: string | undefined): ReadonlySet<string> {
  if (definition === undefined) return NONE;
  const known = found.get(definition) ?? fieldsOf(definition.split(".").slice(-3).join("."));
  found.set(definition, known);
  return known;
}

const NONE: ReadonlySet<string> = new Set();

function fieldsOf(message: string): ReadonlySet<string> {
  const fields = messageNamed(message)?.fields ?? [];
  return new Set(fields.flatMap(({ key, dropsZero, scalar, message: part = "" }) => {
    // The fields of a part without a key are the message's own.
    if (key === "") return [...fieldsOf(part)];
    return dropsZero && scalar !== undefined ? [key] : [];
  }));
}
