/**
 * Determines how Go's JSON encoder treats unset fields of built-in kinds. The generated protobuf
 * data marks pointers and fields without `omitempty`.
 */
import { type Field, messageNamed } from "../wire/protobuf/messages.ts";

/** Fields of a definition with special treatment. */
interface GoFields {
  readonly zeros: ReadonlySet<string>;
  readonly nullTimes: readonly string[];
}

/** Results by definition. Entries cannot become stale, since the generated data is constant. */
const found = new Map<string, GoFields>();

const NONE: GoFields = { zeros: new Set(), nullTimes: [] };

/**
 * Returns the fields of a definition for which Go does not distinguish zero from absent: `false`, 0
 * and the empty string are dropped.
 *
 * @param definition Name of the definition, such as `io.k8s.api.core.v1.Container`.
 */
export function zeroFields(definition: string | undefined): ReadonlySet<string> {
  return goFields(definition).zeros;
}

/**
 * Returns the fields of a definition that are encoded as null if they are not set: times that are
 * not pointers.
 *
 * @param definition Name of the definition, such as `io.k8s.api.core.v1.PodCondition`.
 */
export function nullTimes(definition: string | undefined): readonly string[] {
  return goFields(definition).nullTimes;
}

function goFields(definition: string | undefined): GoFields {
  if (definition === undefined) return NONE;
  const known = found.get(definition);
  if (known !== undefined) return known;
  const message = definition.split(".").slice(-3).join(".");
  const fields = fieldsOf(message);
  const created = {
    zeros: new Set(fields.flatMap(({ key, dropsZero, scalar }) => dropsZero && scalar !== undefined ? [key] : [])),
    nullTimes: SET_ELSEWHERE.has(message) ? [] : fields.filter(isNullTime).map(({ key }) => key),
  };
  found.set(definition, created);
  return created;
}

/** Returns the fields of a message, including those of embedded messages, which have no key. */
function fieldsOf(message: string): readonly Field[] {
  const fields = messageNamed(message)?.fields ?? [];
  return fields.flatMap((field) => field.key === "" ? fieldsOf(field.message ?? "") : [field]);
}

/** Messages whose times the server sets when it creates or reads an object. */
const SET_ELSEWHERE = new Set(["meta.v1.ObjectMeta", "core.v1.Event", "events.v1.Event"]);

function isNullTime({ message, isPointer, isList, isMap }: Field): boolean {
  return (message === "meta.v1.Time" || message === "meta.v1.MicroTime") && !isPointer && !isList && !isMap;
}
