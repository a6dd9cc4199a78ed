/** Columns of the tables of built-in kinds. */
import type { Column } from "./kinds.ts";

/**
 * The columns of a built-in kind; name and age where nothing is said.
 *
 * @param _group The group.
 * @param _plural The plural name.
 */
export function builtinColumns(_group: string, _plural: string): readonly Column[] | undefined {
  return undefined;
}
