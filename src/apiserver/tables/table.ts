/** Tables of objects (`meta.k8s.io/v1`), as `kubectl get` prints them. */
import { isObject } from "../../base/json.ts";
import type { Column, ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { age, NAME_COLUMN } from "./columns.ts";

/** The part of its object that a row contains. */
export type IncludeObject = "None" | "Metadata" | "Object";

const DEFAULT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  { name: "Age", type: "string", description: "", cell: age },
];

/**
 * Returns a table.
 *
 * @param kind Kind of the objects.
 * @param objects The objects.
 * @param metadata Metadata of the list.
 * @param now Current time in milliseconds, for ages.
 * @param options Contents of rows, and whether to include the column definitions. A watch sends
 * them only once.
 */
export function tableOf(
  kind: ServedKind,
  objects: readonly StoredObject[],
  metadata: object,
  now: number,
  options: { includeObject: IncludeObject; withColumns: boolean; version: string },
): unknown {
  const columns = kind.columns ?? DEFAULT_COLUMNS;
  return {
    kind: "Table",
    apiVersion: `meta.k8s.io/${options.version}`,
    metadata,
    columnDefinitions: options.withColumns
      ? columns.map(({ name, type, format = "", description = "", priority = 0 }) => ({
        name,
        type,
        format,
        description,
        priority,
      }))
      : null,
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object, now)),
      ...kind.collection === "/pods" && completion(object),
      object: options.includeObject === "None"
        ? null
        : options.includeObject === "Object"
        ? object
        : partial(object, options.version),
    })),
  };
}

/** Returns the condition of the row of a completed pod. */
function completion({ status }: StoredObject): { conditions?: readonly unknown[] } {
  const phase = isObject(status) ? status.phase : undefined;
  if (phase !== "Succeeded" && phase !== "Failed") return {};
  const message = phase === "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return { conditions: [{ type: "Completed", status: "True", reason: phase, message }] };
}

/** Returns only the metadata of an object. */
export function partial({ metadata }: { readonly metadata: unknown }, version = "v1"): unknown {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
}
