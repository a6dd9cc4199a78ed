/** What cells of tables are made of: fields of any object, times, labels. */
import { isObject } from "../../../base/json.ts";
import { own } from "../../../base/own.ts";
import type { StoredObject } from "../../objects/objects.ts";
import { humanDuration } from "../columns.ts";

/** Makes a cell. */
export type Cell = (object: StoredObject, now: number) => unknown;

/** The cells of a kind by the names of its columns. */
export type Cells = Readonly<Record<string, Cell>>;

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** A value as an object; empty where it is none. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

/** The objects of a list below a key. */
export function list(holder: unknown, key: string): Fields[] {
  const value = own(fields(holder), key);
  return Array.isArray(value) ? value.map(fields) : [];
}

/** The texts of a list below a key. */
export function texts(holder: unknown, key: string): string[] {
  const value = own(fields(holder), key);
  return Array.isArray(value) ? value.map(String) : [];
}

/** How many keys an object has. */
export function size(value: unknown): number {
  return Object.keys(fields(value)).length;
}

/** Reads the value at a path. */
export function at(...path: readonly string[]): (object: unknown) => unknown {
  return (object) => path.reduce<unknown>((value, key) => own(fields(value), key), object);
}

/** A cell of the value at a path, or of what stands for nothing. */
export function orElse(nothing: unknown, ...path: readonly string[]): Cell {
  return (object) => at(...path)(object) || nothing;
}

/** A cell of a number, 0 where there is none. */
export function count(...path: readonly string[]): Cell {
  return orElse(0, ...path);
}

/** How long ago a time was. */
export function since(time: unknown, now: number): string {
  return typeof time === "string" ? humanDuration(now - Date.parse(time)) : "<unknown>";
}

/** Labels as a table shows them (`k8s.io/apimachinery/pkg/labels.FormatLabels`). */
export function labels(value: unknown): string {
  return Object.entries(fields(value)).sort().map(([key, each]) => `${key}=${each}`).join(",") || "<none>";
}

/** A label selector as text (`metav1.LabelSelectorAsSelector`); empty where it selects all. */
export function selectorText(value: unknown): string {
  const { matchLabels } = fields(value);
  const requirements: [key: string, text: string][] = Object.entries(fields(matchLabels))
    .map(([key, each]) => [key, `${key}=${each}`]);
  for (const expression of list(value, "matchExpressions")) {
    const key = String(expression.key ?? "");
    const values = texts(expression, "values").sort();
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

/** So many of a list, and how many more there are. */
export function some(all: readonly string[], most: number, separator = ","): string {
  const shown = all.slice(0, most).join(separator);
  return all.length > most ? `${shown} + ${all.length - most} more...` : shown;
}

/** Whether a condition stands, by the first of its type. */
export function isTrueCondition(status: unknown, type: string): boolean {
  return list(status, "conditions").find((each) => each.type === type)?.status === "True";
}

/** The columns that tell of the containers of a pod template. */
export function ofContainers(...path: readonly string[]): Cells {
  const containers = (it: StoredObject) => list(at(...path, "spec")(it), "containers");
  return {
    Containers: (it) => containers(it).map(({ name }) => name).join(","),
    Images: (it) => containers(it).map(({ image }) => image).join(","),
  };
}
