/** Tables of built-in kinds: the columns are generated, what stands in them is told here (`k8s.io/kubernetes/pkg/printers/internalversion`). */
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
 * The columns of a built-in kind.
 *
 * @param group The group.
 * @param plural The plural name.
 * @returns Nothing where it is not known what stands in them.
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
