/** Cells of tables: those that a definition asks for. */
import type { Column } from "./kinds.ts";
import { jsonPath } from "./json_path.ts";
import type { StoredObject } from "./objects.ts";

/** A column as a CustomResourceDefinition declares it. */
export interface DeclaredColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

/** The column that each table begins with. */
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

/** How long ago an object was made. */
export function age({ metadata }: StoredObject, now: number): string {
  return humanDuration(now - Date.parse(metadata.creationTimestamp));
}

/** The column that the table of a custom kind ends with where its definition names none. */
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
 * The columns of a custom kind.
 *
 * @param declared Those its definition declares; age alone when there are none.
 */
export function customColumns(declared: readonly DeclaredColumn[]): Column[] {
  const columns = declared.length === 0 ? [AGE_COLUMN] : declared;
  return [
    NAME_COLUMN,
    ...columns.map(({ name, type, format, description, priority, jsonPath: path }) => {
      const read = jsonPath(path);
      return {
        name,
        type,
        ...(format !== undefined && { format }),
        description: description ?? `Custom resource definition column (in JSONPath format): ${path}`,
        ...(priority !== undefined && { priority }),
        cell: (object: StoredObject, now: number) => cellOf(type, read(object), now),
      };
    }),
  ];
}

function cellOf(type: string, found: readonly unknown[], now: number): unknown {
  const [value] = found;
  if (value === undefined || value === null) return type === "string" && found.length > 1 ? "" : null;
  switch (type) {
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? humanDuration(now - Date.parse(value)) : "<unknown>";
    default:
      return typeof value === "string" ? value : JSON.stringify(value);
  }
}

/**
 * A length of time as tables show it (`k8s.io/apimachinery/pkg/util/duration.HumanDuration`).
 *
 * @param milliseconds The time.
 */
export function humanDuration(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return "<unknown>";
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (hours < 192) return two(days, "d", hours % 24, "h");
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.floor(days / 365);
  return hours < 24 * 365 * 8 ? two(years, "y", days % 365, "d") : `${years}y`;
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`;
}
