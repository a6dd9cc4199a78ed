/**
 * Fields of built-in kinds that the server drops if they are zero: in Go's types, those with
 * `omitempty` that are not pointers.
 */
import { messageNamed } from "../wire/protobuf/messages.ts";

/**
 * Results by definition. Entries cannot become stale, since the generated definitions are constant.
 */
const found = new Map<string, ReadonlySet<string>>();

/**
 * Returns the fields of a definition for which Go does not distinguish zero from absent: `false`, 0
 * and the empty string are dropped.
 *
 * @param definition Name of the definition, such as `io.k8s.api.core.v1.Container`.
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
    // A field without a key is embedded: its fields are those of the message.
    if (key === "") return [...fieldsOf(part)];
    return dropsZero && scalar !== undefined ? [key] : [];
  }));
}
