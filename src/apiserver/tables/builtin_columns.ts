/**
 * Tables of built-in kinds: generated columns, with the functions for their cells
 * (`k8s.io/kubernetes/pkg/printers/internalversion`).
 */
import { own } from "../../base/own.ts";
import { columns as generated, columnTexts } from "../../openapi/kubernetes.gen.ts";
import type { Column } from "../objects/kinds.ts";
import type { Cells } from "./cells/_fields.ts";
import { clusterCells } from "./cells/cluster.ts";
import { networkCells } from "./cells/network.ts";
import { podCells } from "./cells/pods.ts";
import { storageCells } from "./cells/storage.ts";
import { workloadCells } from "./cells/workloads.ts";
import { age } from "./columns.ts";

const COMMON: Cells = {
  Name: ({ metadata }) => metadata.name,
  Age: age,
  "Created At": ({ metadata }) => metadata.creationTimestamp,
};

const CELLS: Readonly<Record<string, Cells>> = {
  "/pods": podCells,
  ...workloadCells,
  ...networkCells,
  ...storageCells,
  ...clusterCells,
};

/**
 * Returns the columns of a built-in kind.
 *
 * @param group The group.
 * @param plural The plural name.
 * @returns The columns; `undefined` if a column has no function for its cells.
 */
export function builtinColumns(group: string, plural: string): readonly Column[] | undefined {
  const name = `${group}/${plural}`;
  const cells = { ...COMMON, ...CELLS[name] };
  const columns = (own(generated, name) ?? []).map(([name, type, format, priority, text]): Column | undefined => {
    const cell = own(cells, name);
    return cell && { name, type, format, priority, description: columnTexts[text] ?? "", cell };
  });
  const known = columns.filter((column) => column !== undefined);
  return known.length === columns.length && known.length > 0 ? known : undefined;
}
