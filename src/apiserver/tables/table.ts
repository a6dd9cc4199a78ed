/** Objects as rows of a table (`meta.k8s.io/v1`), as `kubectl get` shows them. */
import { isObject } from "../../base/json.ts";
import type { Column, ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { age, NAME_COLUMN } from "./columns.ts";

/** What a row carries of its object. */
export type IncludeObject = "None" | "Metadata" | "Object";

const DEFAULT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  { name: "Age", type: "string", description: "", cell: age },
];

/**
 * A table.
 *
 * @param kind Whose objects.
 * @param objects The objects.
 * @param metadata The list's metadata.
 * @param now The time, for ages.
 * @param options What rows carry, and whether the columns are said: a watch says them once.
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
      ...kind.collection === "/pods" && endOf(object),
      object: options.includeObject === "None"
        ? null
        : options.includeObject === "Object"
        ? object
        : partial(object, options.version),
    })),
  };
}

/** A row says of a pod that has ended that it is out of the way. */
function endOf({ status }: StoredObject): { conditions?: readonly unknown[] } {
  const phase = isObject(status) ? status.phase : undefined;
  if (phase !== "Succeeded" && phase !== "Failed") return {};
  const message = phase === "Failed" ? "The pod failed." : "The pod has completed successfully.";
  return { conditions: [{ type: "Completed", status: "True", reason: phase, message }] };
}

/** An object's metadata alone. */
export function partial({ metadata }: { readonly metadata: unknown }, version = "v1"): unknown {
  return { kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata };
}
