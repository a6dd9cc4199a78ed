/** Fields by which objects of a kind can be selected (`kubectl get --field-selector`, KEP-4358). */
import { type FieldTarget, fieldTarget } from "../schema/field_path.ts";
import type { JsonSchema } from "../schema/mod.ts";
import type { CheckedNames } from "./column_path.ts";
import { deadEnd } from "./_dead_end.ts";
import { refuse } from "./_refusal.ts";

// As many as an API server takes.
const MOST = 8;

/** The paths themselves where objects can be selected by them; otherwise a sentence stands in a path's place. */
export type CheckedFields<F extends readonly string[], Root> = {
  readonly [I in keyof F]: F[I] extends CheckedField<F[I], Root> ? F[I] : CheckedField<F[I], Root>;
};

type CheckedField<P, Root> = P extends string ? P extends `.metadata.${string}` ? `${P} is part of the metadata`
  : CheckedNames<Root, P, string | number | boolean, "a string, an integer or a boolean">
  : never;

/**
 * Selectable fields as a CustomResourceDefinition has them.
 *
 * @param kind The kind, for messages.
 * @param paths Paths of plain names, as `.spec.host`.
 * @param root The schema of a whole object.
 * @throws {TypeError} If a path is not in the schema, is there twice, or leads to what is neither string, integer nor boolean.
 * @throws {RangeError} If there are more than eight.
 */
export function selectableFields(
  kind: string,
  paths: readonly string[],
  root: JsonSchema,
): { readonly jsonPath: string }[] {
  for (const [i, path] of paths.entries()) {
    const { schema } = target(kind, path, root);
    if (path.startsWith(".metadata.")) {
      refuse(kind, `"${path}" is selectable whatever the kind says, or never: take it out of "selectableFields"`);
    }
    const type = schema?.type;
    if (type !== "string" && type !== "integer" && type !== "boolean") {
      refuse(
        kind,
        `objects are selected by strings, integers and booleans: "${path}" of "selectableFields" is ${
          type === undefined ? "of no single type" : `of type ${type}`
        }`,
      );
    }
    if (paths.indexOf(path) < i) refuse(kind, `"selectableFields" lists "${path}" twice`);
  }
  if (paths.length > MOST) {
    throw new RangeError(
      `Cannot make kind "${kind}": an API server takes ${MOST} selectable fields, these are ${paths.length}`,
    );
  }
  return paths.map((jsonPath) => ({ jsonPath }));
}

function target(kind: string, path: string, root: JsonSchema): FieldTarget {
  try {
    return fieldTarget(path, root, { brackets: false });
  } catch (cause) {
    const why = (cause as Error).message;
    const isRead = why === "does not refer to a valid field";
    const reason = isRead ? deadEnd(path, root) : `it cannot be read: ${why}`;
    refuse(kind, `the path "${path}" of "selectableFields" is not in the schema: ${reason}`, cause);
  }
}
