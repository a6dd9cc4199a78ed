/** Columns of `kubectl get`. */
import type { JsonSchema } from "../schema/mod.ts";
import { type ColumnType, columnType } from "./_column_type.ts";
import type { CheckedPath } from "./column_path.ts";
import type { CustomResourceDefinitionManifest } from "./kind.ts";

/** A column of `kubectl get`, where a path alone does not say enough. */
export interface Column {
  /** Where the value is, in the JSONPath of kubectl without braces: `.spec.host`, `.status.conditions[?(@.type=="Ready")].status`. */
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

/** The columns themselves where all paths are in `Root`; otherwise a sentence stands in a path's place. */
export type CheckedColumns<C extends Columns, Root> = {
  readonly [Heading in keyof C]: C[Heading] extends CheckedColumn<C[Heading], Root> ? C[Heading]
    : CheckedColumn<C[Heading], Root>;
};

type CheckedColumn<C extends string | Column, Root> = C extends string ? CheckedPath<Root, C>
  : C extends { readonly path: infer P extends string } ?
      & Omit<Column, "path">
      & { readonly path: CheckedPath<Root, P> }
      & {
        readonly [Unknown in Exclude<keyof C, keyof Column>]?: never;
      }
  : Column;

type PrinterColumn = NonNullable<
  CustomResourceDefinitionManifest["spec"]["versions"][number]["additionalPrinterColumns"]
>[number];

/**
 * Columns as a CustomResourceDefinition has them.
 *
 * @param kind The kind, for messages.
 * @param columns Columns by heading.
 * @param properties Schemas of `spec` and `status`.
 * @throws {TypeError} If a heading is empty, or a path is not in the schema.
 */
export function printerColumns(
  kind: string,
  columns: Columns,
  properties: { readonly [name: string]: JsonSchema },
): PrinterColumn[] {
  return Object.entries(columns).map(([name, column]) => {
    if (name === "") throw new TypeError(`Cannot make kind "${kind}": the heading of a column is empty`);
    const { path, type, ...rest } = typeof column === "string" ? { path: column } : column;
    const inferred = columnType(path, properties);
    if (inferred === undefined) {
      throw new TypeError(
        `Cannot make kind "${kind}": the path "${path}" of column "${name}" is not in the schema: start with ".spec", ".status" or ".metadata"`,
      );
    }
    return { name, type: type ?? inferred, jsonPath: path, ...rest };
  });
}
