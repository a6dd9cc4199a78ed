/** The types of fields that handlers follow, by their paths. */
import type { At, FirstName, NotLiteral } from "../../resource/column_path.ts";

/**
 * The type of a field, such as `.spec.replicas` or `.metadata.labels["example.com/tier"]`; `never`
 * if the path does not resolve. The empty path is the whole value.
 */
export type FieldAt<T, P extends string> = [T] extends [never] ? never
  : P extends "" ? T
  : P extends `["${infer Name}"]${infer Rest}` ? FieldAt<At<T, Name>, Rest>
  : P extends `['${infer Name}']${infer Rest}` ? FieldAt<At<T, Name>, Rest>
  : P extends `.${infer After}`
    ? FirstName<After> extends [infer Name extends string, infer Rest extends string] ? FieldAt<At<T, Name>, Rest>
    : never
  : never;

/** The path itself if it resolves; otherwise the message that the compiler shows. */
export type CheckedField<T, P extends string> = string extends P ? NotLiteral
  : [FieldAt<T, P>] extends [never] ? `${P} is not in the schema`
  : P;
