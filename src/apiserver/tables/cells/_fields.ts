/** Functions that read and format fields, times and labels for cells. */
import { own } from "../../../base/own.ts";
import { type Fields, fields, type StoredObject } from "../../objects/objects.ts";

export { type Fields, fields };
import { humanDuration } from "../columns.ts";

/** Returns the value of a cell. */
export type Cell = (object: StoredObject, now: number) => unknown;

/** The cells of a kind by the names of its columns. */
export type Cells = Readonly<Record<string, Cell>>;

/** Returns the objects of a list in a field. */
export function list(holder: unknown, key: string): Fields[] {
  const value = own(fields(holder), key);
  return Array.isArray(value) ? value.map(fields) : [];
}

/** Returns the strings of a list in a field. */
export function strings(holder: unknown, key: string): string[] {
  const value = own(fields(holder), key);
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns the number of keys of an object. */
export function size(value: unknown): number {
  return Object.keys(fields(value)).length;
}

/** Returns a function that reads the value at a path. */
export function at(...path: readonly string[]): (object: unknown) => unknown {
  return (object) => path.reduce<unknown>((value, key) => own(fields(value), key), object);
}

/** Returns a cell with the value at a path, or with a placeholder if there is none. */
export function orElse(placeholder: unknown, ...path: readonly string[]): Cell {
  return (object) => at(...path)(object) || placeholder;
}

/** Returns a cell with the number at a path, or 0 if there is none. */
export function count(...path: readonly string[]): Cell {
  return orElse(0, ...path);
}

/** Formats the time since a timestamp. */
export function since(time: unknown, now: number): string {
  return typeof time === "string" ? humanDuration(now - Date.parse(time)) : "<unknown>";
}

/** Formats labels (`k8s.io/apimachinery/pkg/labels.FormatLabels`). */
export function labels(value: unknown): string {
  return Object.entries(fields(value)).sort().map(([key, each]) => `${key}=${each}`).join(",") || "<none>";
}

/**
 * Formats a label selector (`metav1.LabelSelectorAsSelector`); an empty string if it matches
 * everything.
 */
export function selectorText(value: unknown): string {
  const { matchLabels } = fields(value);
  const requirements: [key: string, text: string][] = Object.entries(fields(matchLabels))
    .map(([key, each]) => [key, `${key}=${each}`]);
  for (const expression of list(value, "matchExpressions")) {
    const key = String(expression.key ?? "");
    const values = strings(expression, "values").sort();
    requirements.push([key, requirementText(key, String(expression.operator), values)]);
  }
  return requirements.sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, text]) => text).join(",");
}

function requirementText(key: string, operator: string, values: readonly string[]): string {
  switch (operator) {
    case "In":
      return `${key} in (${values.join(",")})`;
    case "NotIn":
      return `${key} notin (${values.join(",")})`;
    case "Exists":
      return key;
    default:
      return `!${key}`;
  }
}

/** Formats the first `limit` items of a list, and the number of the others. */
export function firstItems(all: readonly string[], limit: number, separator = ","): string {
  const shown = all.slice(0, limit).join(separator);
  return all.length > limit ? `${shown} + ${all.length - limit} more...` : shown;
}

/** Returns whether the first condition of a type is true. */
export function isTrueCondition(status: unknown, type: string): boolean {
  return list(status, "conditions").find((each) => each.type === type)?.status === "True";
}

/** Returns the columns for the containers of a pod template. */
export function containerCells(...path: readonly string[]): Cells {
  const containers = (it: StoredObject) => list(at(...path, "spec")(it), "containers");
  return {
    Containers: (it) => containers(it).map(({ name }) => name).join(","),
    Images: (it) => containers(it).map(({ image }) => image).join(","),
  };
}
