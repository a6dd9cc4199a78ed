/**
 * Names in the module: of constants after the properties they stand for, of kinds after the kind.
 */
import type { SchemaGroup, SchemaPath } from "./schema_index.ts";
import { sharedName } from "./shared_name.ts";
import { camelCase, counted, ownName, words, wordsOf } from "./words.ts";

/** What JavaScript or TypeScript takes for something else, and what the module imports. */
const TAKEN: readonly string[] = [
  ...("await break case catch class const continue debugger default delete do else enum export extends false finally for function if " +
    "implements import in instanceof interface let new null package private protected public return static super switch this throw true " +
    "try typeof var void while with yield arguments eval undefined async of get set type any boolean never number object string symbol " +
    "unknown bigint").split(" "),
  "s",
  "resource",
  "Infer",
];

/** Whether a name cannot be that of a constant. */
function isTaken(name: string, used: ReadonlySet<string>): boolean {
  return used.has(name) || TAKEN.includes(name);
}

/**
 * Names of constants, each once.
 *
 * @param groups The schemas that get one. Those right below the kind choose first, then those that
 * stand most often.
 * @param used Names that are there already.
 * @returns By the group's id.
 */
export function constantNames(groups: readonly SchemaGroup[], used: ReadonlySet<string>): Map<string, string> {
  const taken = new Set(used);
  const names = new Map<string, string>();
  const isTop = ({ uses }: SchemaGroup) => (uses.some(({ path }) => path.length === 2) ? 1 : 0);
  const inOrder = [...groups].sort((a, b) => isTop(b) - isTop(a) || b.count - a.count || a.order - b.order);
  for (const group of inOrder) {
    const name = firstFree(group, taken);
    taken.add(name);
    names.set(group.id, name);
  }
  return names;
}

function firstFree(group: SchemaGroup, taken: ReadonlySet<string>): string {
  const shared = sharedName(group);
  if (shared !== undefined && !isTaken(shared, taken)) return shared;
  const path = commonest(group);
  let name = "";
  for (let from = path.length - 1; from >= 0; from--) {
    name = camelCase(words(path.slice(from)));
    if (path[from] !== "*" && name !== "" && !isTaken(name, taken)) return name;
  }
  for (let number = 2;; number++) {
    const numbered = `${name || "schema"}${number}`;
    if (!isTaken(numbered, taken)) return numbered;
  }
}

/**
 * The path of the first use whose last name most uses have; of as many, one of an item, which is
 * named for what it is.
 */
function commonest({ uses }: SchemaGroup): SchemaPath {
  const lastOf = (path: SchemaPath) => camelCase(words(ownName(path)));
  const counts = counted(uses.map(({ path }) => lastOf(path)));
  const rank = (path: SchemaPath) => counts.get(lastOf(path))! + (path.at(-1) === "*" ? 0.5 : 0);
  return uses.reduce((best, use) => (rank(use.path) > rank(best.path) ? use : best)).path;
}

/**
 * The name of a kind in the module.
 *
 * @param kind The kind.
 * @param more Words to tell it from others of that name, in the order in which they are tried: its
 * version, its group.
 * @param used Names that are there already.
 */
export function kindName(kind: string, more: readonly string[], used: ReadonlySet<string>): string {
  const candidates = [kind, ...more.map((word) => kind + capitalised(word)), kind + more.map(capitalised).join("")];
  return candidates.find((name) => !isTaken(name, used)) ?? `${candidates.at(-1)}Kind`;
}

/**
 * The name of what all versions of a kind have in common.
 *
 * @param kind The kind's name in the module.
 * @param used Names that are there already.
 */
export function commonName(kind: string, used: ReadonlySet<string>): string {
  const name = camelCase(wordsOf(kind));
  return isTaken(name, used) ? `${name}Versions` : name;
}

function capitalised(text: string): string {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}
