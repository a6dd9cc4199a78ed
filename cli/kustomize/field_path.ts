/** Changes values at a path such as `spec/template/spec/containers/image`, through lists. */
import { isObject } from "../internal/mod.gen.ts";
import type { FieldSpec } from "./kustomization.ts";
import type { Identity } from "./resource.ts";

/** Returns whether a field specification applies to a kind. Omitted parts match every kind. */
export function appliesTo({ group, version, kind }: Omit<FieldSpec, "path">, object: Identity): boolean {
  return (group === undefined || group === object.group) && (version === undefined || version === object.version) &&
    (kind === undefined || kind === object.kind);
}

/**
 * Returns a copy of a value in which all values at a path are changed. The path continues in every
 * item of a list.
 *
 * @param value The value.
 * @param path Names of fields. A slash in a name is written `\/`.
 * @param change Returns the new value. It is called with `undefined` if the field does not exist
 *   and `create` is set.
 * @param create Whether to create missing fields.
 */
export function changedAt(
  value: unknown,
  path: string,
  change: (value: unknown) => unknown,
  create = false,
): unknown {
  const names = path.split(/(?<!\\)\//).map((name) => name.replace("\\/", "/"));
  return changedBelow(value, names, change, create);
}

function changedBelow(
  value: unknown,
  [name, ...rest]: readonly string[],
  change: (value: unknown) => unknown,
  create: boolean,
): unknown {
  if (name === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item) => changedBelow(item, [name, ...rest], change, create));
  if (value !== undefined && value !== null && !isObject(value)) return value;
  const object = value ?? {};
  if (!(name in object) || (object as Record<string, unknown>)[name] === null) {
    if (!create) return value;
  }
  return { ...object, [name]: changedBelow((object as Record<string, unknown>)[name], rest, change, create) };
}
