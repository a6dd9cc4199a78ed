/** Columns of `kubectl get`. */
import type { Flatten, JsonSchema } from "../schema/mod.ts";
import { columnSchema, type ColumnType, columnType } from "./column_type.ts";
import { pathError } from "./_path_error.ts";
import { rejectKind } from "./_kind_error.ts";
import type { CheckedPath } from "./column_path.ts";
import type { DefinitionVersion } from "./kind.ts";

/** A column of `kubectl get` with options. */
export interface Column {
  /**
   * The path of the value in kubectl's JSONPath without braces: `.spec.host`,
   * `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status`. A filter compares by
   * `==`, `!=`, `<`, `<=`, `>` and `>=`, or tests for existence. If there are several matches,
   * the first one is shown.
   */
  readonly path: string;
  /** kubectl shows columns above 0 only with `-o wide`. @default {0} */
  readonly priority?: number;
  /** The description in the CustomResourceDefinition. @default {none} */
  readonly description?: string;
  /** The format of numbers and dates. @default {none} */
  readonly format?: "int32" | "int64" | "float" | "double" | "byte" | "date" | "date-time" | "password";
  /** The type of the values. @default {the type in the schema} */
  readonly type?: ColumnType;
}

/** Columns by heading: a path, or a {@linkcode Column}. */
export interface Columns {
  readonly [heading: string]: string | Column;
}

/** Columns before type checks. {@linkcode CheckedColumns} reports the errors in them. */
export interface AnyColumns {
  readonly [heading: string]: string | { readonly [option: string]: unknown };
}

/**
 * The columns, with each path that does not resolve in `Root` replaced by the message that the
 * compiler shows.
 */
export type CheckedColumns<C extends AnyColumns, Root> = string extends keyof C ? Columns : {
  readonly [Heading in keyof C]: C[Heading] extends CheckedColumn<C[Heading], Root> ? C[Heading]
    : CheckedColumn<C[Heading], Root>;
};

// Each option is checked by its key. In TypeScript 5.8 the argument is still a fresh literal, which
// does not extend a type that lacks one of its properties.
type CheckedColumn<C, Root> = C extends string ? CheckedPath<Root, C>
  : "path" extends keyof C ? C["path"] extends infer P extends string ? Flatten<
        & { readonly path: CheckedPath<Root, P> }
        & Omit<Column, "path">
        & { readonly [Unknown in Exclude<keyof C, keyof Column>]?: `columns have no option ${Unknown & string}` }
      >
    : Column
  : Column;

type PrinterColumn = NonNullable<DefinitionVersion["additionalPrinterColumns"]>[number];

const TYPES: readonly ColumnType[] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: readonly string[] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/**
 * Returns columns in the form of a CustomResourceDefinition.
 *
 * @param kind The kind, for messages.
 * @param columns Columns by heading.
 * @param root The schema of a whole object.
 * @throws {TypeError} If a heading is empty, a path is invalid or does not resolve, or a type or
 *   format is unknown.
 */
export function printerColumns(kind: string, columns: Columns, root: JsonSchema): PrinterColumn[] {
  return Object.entries(columns).map(([name, column]) => {
    if (name === "") rejectKind(kind, "the heading of a column must not be empty");
    const { path, type, format, priority, description } = typeof column === "string"
      ? { path: column } as Column
      : column;
    const inferred = inferType(kind, name, path, root);
    if (type !== undefined && !TYPES.includes(type)) {
      rejectKind(kind, `the type of column "${name}" must be one of ${TYPES.join(", ")}, got "${type}"`);
    }
    if (format !== undefined && !FORMATS.includes(format)) {
      rejectKind(kind, `the format of column "${name}" must be one of ${FORMATS.join(", ")}, got "${format}"`);
    }
    if (priority !== undefined && !Number.isInteger(priority)) {
      rejectKind(kind, `the priority of column "${name}" must be an integer, got ${JSON.stringify(priority)}`);
    }
    return {
      name,
      type: type ?? inferred,
      jsonPath: path,
      ...(format !== undefined && { format }),
      // A server does not store the default.
      ...(priority !== undefined && priority !== 0 && { priority }),
      ...(description !== undefined && description !== "" && { description }),
    };
  });
}

function inferType(kind: string, name: string, path: string, root: JsonSchema): ColumnType {
  let schema: JsonSchema | undefined;
  try {
    schema = columnSchema(path, root);
  } catch (cause) {
    rejectKind(kind, `the path "${path}" of column "${name}" is invalid: ${(cause as Error).message}`, cause);
  }
  if (schema !== undefined) return columnType(schema);
  rejectKind(kind, `the path "${path}" of column "${name}" is not in the schema: ${pathError(path, root)}`);
}
