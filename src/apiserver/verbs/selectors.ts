/**
 * Label and field selectors of lists and watches (`k8s.io/apimachinery/pkg/labels`, `.../fields`).
 */
import { parseFieldSelector } from "../../base/field_selector.ts";
import { isLabelRequirementMet, parseLabelSelector } from "../../base/label_selector.ts";
import { own } from "../../base/own.ts";
import { type BuiltinFields, builtinFields } from "../builtin/fields.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { badRequest } from "../wire/status_error.ts";

/** Returns whether an object is selected. */
export type Selection = (object: StoredObject) => boolean;

/**
 * Parses a label selector.
 *
 * @param text The selector, such as `app=web,tier in (a, b),!legacy`.
 * @throws {StatusError} If it is invalid.
 */
export function labelSelection(text: string): Selection {
  const requirements = parseSelector(() => parseLabelSelector(text));
  return ({ metadata: { labels = {} } }) =>
    requirements.every((requirement) => isLabelRequirementMet(requirement, own(labels, requirement.key)));
}

/**
 * Parses a field selector.
 *
 * @param kind Kind of the objects.
 * @param text The selector, such as `metadata.name=web`.
 * @throws {StatusError} If it is invalid, or names a field that is not selectable.
 */
export function fieldSelection(kind: ServedKind, text: string): Selection {
  const { fields, unknown } = selectableFields(kind);
  const requirements = parseSelector(() => parseFieldSelector(text)).map(({ field, value, isEqual }) => {
    const read = fields.get(field);
    if (read === undefined) throw badRequest(unknown(field));
    return (object: StoredObject) => (read(object) === value) === isEqual;
  });
  return (object) => requirements.every((requirement) => requirement(object));
}

function parseSelector<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof SyntaxError ? badRequest(error.message) : error;
  }
}

function selectableFields(kind: ServedKind): BuiltinFields {
  if (kind.isBuiltin) return builtinFields(`${kind.group}/${kind.plural}`);
  const fields = new Map<string, (object: StoredObject) => string>();
  fields.set("metadata.name", ({ metadata }) => metadata.name);
  if (kind.namespaced) fields.set("metadata.namespace", ({ metadata }) => metadata.namespace ?? "");
  for (const [path, read] of kind.selectableFields ?? []) fields.set(path, read);
  return { fields, unknown: (field) => `field label not supported: ${field}` };
}
