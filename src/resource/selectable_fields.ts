/** Fields for field selectors (`kubectl get --field-selector`, KEP-4358). */
import { type FieldTarget, fieldTarget, UnknownFieldError } from "../schema/field_path.ts";
import type { JsonSchema } from "../schema/mod.ts";
import type { CheckedNames } from "./column_path.ts";
import { pathError } from "./_path_error.ts";
import { rejectKind } from "./_kind_error.ts";

// The maximum number that an API server accepts.
const MAX_FIELDS = 8;

/**
 * The paths, with each one that cannot be selectable replaced by the message that the compiler
 * shows.
 */
export type CheckedFields<F extends readonly string[], Root> = {
  readonly [I in keyof F]: F[I] extends CheckedField<F[I], Root> ? F[I] : CheckedField<F[I], Root>;
};

type CheckedField<P, Root> = P extends string
  ? P extends `.metadata.${string}` ? `${P} is part of the metadata, which is not selectable`
  : CheckedNames<Root, P, string | number | boolean, "a string, an integer or a boolean">
  : never;

/**
 * Returns selectable fields in the form of a CustomResourceDefinition.
 *
 * @param kind The kind, for messages.
 * @param paths Paths of plain names, such as `.spec.host`.
 * @param root The schema of a whole object.
 * @throws {TypeError} If a path is not in the schema, is listed twice, or its target is neither
 * string, integer nor boolean.
 * @throws {RangeError} If there are more than eight paths.
 */
export function selectableFields(
  kind: string,
  paths: readonly string[],
  root: JsonSchema,
): { readonly jsonPath: string }[] {
  for (const [i, path] of paths.entries()) {
    const { schema } = target(kind, path, root);
    if (path.startsWith(".metadata.")) {
      rejectKind(kind, `"${path}" is a field of every object, which "selectableFields" cannot list. Remove it`);
    }
    const type = schema?.type;
    if (type !== "string" && type !== "integer" && type !== "boolean") {
      rejectKind(
        kind,
        `"${path}" of "selectableFields" must be a string, an integer or a boolean, got ${
          type === undefined ? "several types" : `type ${type}`
        }`,
      );
    }
    if (paths.indexOf(path) < i) rejectKind(kind, `"selectableFields" lists "${path}" twice`);
  }
  if (paths.length > MAX_FIELDS) {
    throw new RangeError(
      `Cannot define kind "${kind}": an API server accepts at most ${MAX_FIELDS} selectable fields, got ${paths.length}`,
    );
  }
  return paths.map((jsonPath) => ({ jsonPath }));
}

function target(kind: string, path: string, root: JsonSchema): FieldTarget {
  try {
    return fieldTarget(path, root, { brackets: false });
  } catch (cause) {
    const reason = cause instanceof UnknownFieldError
      ? `is not in the schema: ${pathError(path, root)}`
      : `is invalid: ${(cause as Error).message}`;
    rejectKind(kind, `the path "${path}" of "selectableFields" ${reason}`, cause);
  }
}
