/** Columns of `kubectl get`. */
import type { Flatten, JsonSchema } from "../schema/mod.ts";
import { columnSchema, type ColumnType, columnType } from "./column_type.ts";
import { deadEnd } from "./_dead_end.ts";
import { refuse } from "./_refusal.ts";
import type { CheckedPath } from "./column_path.ts";
import type { DefinitionVersion } from "./kind.ts";

/** A column of `kubectl get`, where a path alone does not say enough. */
export interface Column {
  /**
   * Where the value is, in the JSONPath of kubectl without braces: `.spec.host`, `.spec.ports[0].name`,
   * `.status.conditions[?(@.type=="Ready")].status`. A filter compares by `==`, `!=`, `<`, `<=`, `>` and `>=`, or asks whether something is
   * there. Of several values the first is shown.
   */
  readonly path: string;
  /** Columns above 0 are shown only by `-o wide`. @default {0} */
  readonly priority?: number;
  readonly description?: string;
  /** How numbers and dates are shown. */
  readonly format?: "int32" | "int64" | "float" | "double" | "byte" | "date" | "date-time" | "password";
  /** @default {what the schema says} */
  readonly type?: ColumnType;
}

/** Columns by their heading: a path, or a {@linkcode Column}. */
export interface Columns {
  readonly [heading: string]: string | Column;
}

/** Columns with what else is said of them: so that the compiler names what is wrong, and nothing but that. */
export interface AnyColumns {
  readonly [heading: string]: string | { readonly [option: string]: unknown };
}

/** The columns themselves where all paths are in `Root`; otherwise a sentence stands in a path's place. */
export type CheckedColumns<C extends AnyColumns, Root> = string extends keyof C ? Columns : {
  readonly [Heading in keyof C]: C[Heading] extends CheckedColumn<C[Heading], Root> ? C[Heading]
    : CheckedColumn<C[Heading], Root>;
};

// By key: TypeScript 5.8 takes what was written for a fresh literal still, which extends no type that lacks one of its properties.
type CheckedColumn<C, Root> = C extends string ? CheckedPath<Root, C>
  : "path" extends keyof C ? C["path"] extends infer P extends string ? Flatten<
        & { readonly path: CheckedPath<Root, P> }
        & Omit<Column, "path">
        & { readonly [Unknown in Exclude<keyof C, keyof Column>]?: `a column has no ${Unknown & string}` }
      >
    : Column
  : Column;

type PrinterColumn = NonNullable<DefinitionVersion["additionalPrinterColumns"]>[number];

const TYPES: readonly ColumnType[] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: readonly string[] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/**
 * Columns as a CustomResourceDefinition has them.
 *
 * @param kind The kind, for messages.
 * @param columns Columns by heading.
 * @param root The schema of a whole object.
 * @throws {TypeError} If a heading is empty, a path cannot be read or is not in the schema, a type or format is none.
 */
export function printerColumns(kind: string, columns: Columns, root: JsonSchema): PrinterColumn[] {
  return Object.entries(columns).map(([name, column]) => {
    if (name === "") refuse(kind, "the heading of a column is empty");
    const { path, type, format, priority, description } = typeof column === "string"
      ? { path: column } as Column
      : column;
    const inferred = typeAt(kind, name, path, root);
    if (type !== undefined && !TYPES.includes(type)) {
      refuse(kind, `the type of column "${name}" must be one of ${TYPES.join(", ")}, got "${type}"`);
    }
    if (format !== undefined && !FORMATS.includes(format)) {
      refuse(kind, `the format of column "${name}" must be one of ${FORMATS.join(", ")}, got "${format}"`);
    }
    if (priority !== undefined && !Number.isInteger(priority)) {
      refuse(kind, `the priority of column "${name}" must be an integer, got ${JSON.stringify(priority)}`);
    }
    return {
      name,
      type: type ?? inferred,
      jsonPath: path,
      ...(format !== undefined && { format }),
      // What is left out is the same to a server, which forgets it.
      ...(priority !== undefined && priority !== 0 && { priority }),
      ...(description !== undefined && description !== "" && { description }),
    };
  });
}

function typeAt(kind: string, name: string, path: string, root: JsonSchema): ColumnType {
  let schema: JsonSchema | undefined;
  try {
    schema = columnSchema(path, root);
  } catch (cause) {
    refuse(kind, `the path "${path}" of column "${name}" cannot be read: ${(cause as Error).message}`, cause);
  }
  if (schema !== undefined) return columnType(schema);
  refuse(kind, `the path "${path}" of column "${name}" is not in the schema: ${deadEnd(path, root)}`);
}
