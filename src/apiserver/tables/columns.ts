/** Tables of custom kinds, with the columns of their definitions. */
import { type JsonPath, parseJsonPath } from "../../base/json_path.ts";
import { goJson, goNumber } from "../../schema/go_text.ts";
import type { Column } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";

/** A column in a CustomResourceDefinition. */
export interface DeclaredColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** The first column of each table. */
export const NAME_COLUMN: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may " +
    "allow a client to request the generation of an appropriate name automatically. Name is primarily intended for " +
    "creation idempotence and configuration definition. Cannot be updated. More info: " +
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  cell: ({ metadata }) => metadata.name,
};

/** Formats the age of an object. */
export function age({ metadata }: StoredObject, now: number): string {
  return humanDuration(now - Date.parse(metadata.creationTimestamp));
}

/** The last column of a custom kind whose definition has no columns. */
const AGE_COLUMN: DeclaredColumn = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not " +
    "guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is " +
    "represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: " +
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
};

/**
 * Returns the columns of a custom kind.
 *
 * @param declared Columns of the definition; if empty, the table shows the age. The first column
 * with an invalid path and all columns after it are omitted, since the real server accepts such a
 * definition.
 */
export function customColumns(declared: readonly DeclaredColumn[]): Column[] {
  const columns: Column[] = [NAME_COLUMN];
  for (const column of declared.length === 0 ? [AGE_COLUMN] : declared) {
    const path = parsePath(column.jsonPath);
    if (path === undefined) break;
    columns.push(customColumn(column, path));
  }
  return columns;
}

function parsePath(path: string): JsonPath | undefined {
  try {
    return parseJsonPath(path);
  } catch {
    return undefined;
  }
}

function customColumn(column: DeclaredColumn, path: JsonPath): Column {
  const { name, type, format, description, priority, jsonPath } = column;
  return {
    name,
    type,
    ...(format !== undefined && { format }),
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...(priority !== undefined && { priority }),
    cell: (object, now) => cellOf(type, firstFound(path, object), now),
  };
}

/**
 * Returns a list with the first value at a path; an empty list if there is none or the path does
 * not fit the object.
 */
function firstFound(path: JsonPath, object: StoredObject): readonly unknown[] {
  try {
    return path.find(object)[0]?.slice(0, 1) ?? [];
  } catch {
    return [];
  }
}

function cellOf(type: string, found: readonly unknown[], now: number): unknown {
  if (found.length === 0) return null;
  const [value] = found;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? dateCell(value, now) : null;
    default:
      return stringCell(value);
  }
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

function dateCell(text: string, now: number): string {
  if (text === "" || text === "null") return "<unknown>";
  const time = DATE_TIME.test(text) ? Date.parse(text.replace(",", ".")) : NaN;
  return Number.isNaN(time) ? "<invalid>" : humanDuration(now - time);
}

/** Formats a value as Go does. */
function stringCell(value: unknown): string {
  if (value === null) return "<no value>";
  if (typeof value === "number") return goNumber(value);
  return typeof value === "object" ? goJson(value) : String(value);
}

/**
 * Formats a duration (`k8s.io/apimachinery/pkg/util/duration.HumanDuration`).
 *
 * @param milliseconds The duration.
 */
export function humanDuration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return "<unknown>";
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return twoUnits(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return twoUnits(days, "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return hours < 24 * 365 * 8 ? twoUnits(years, "y", days % 365, "d") : `${years}y`;
}

function twoUnits(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
}
