/** Names in the generated module. Constants are named after the properties that use them. */
import type { SchemaGroup, SchemaPath } from "./schema_index.ts";
import { sharedName } from "./shared_name.ts";
import { camelCase, counted, ownName, words, wordsOf } from "./words.ts";

/** Reserved words of JavaScript and TypeScript, and names that the module imports. */
const RESERVED: readonly string[] = [
  ...("await break case catch class const continue debugger default delete do else enum export extends false finally for function if " +
    "implements import in instanceof interface let new null package private protected public return static super switch this throw true " +
    "try typeof var void while with yield arguments eval undefined async of get set type any boolean never number object string symbol " +
    "unknown bigint").split(" "),
  "s",
  "resource",
  "Infer",
];

/** Returns whether a name is reserved or in use, so that a constant cannot have it. */
function isTaken(name: string, used: ReadonlySet<string>): boolean {
  return used.has(name) || RESERVED.includes(name);
}

/**
 * Returns a unique name for each group's constant.
 *
 * @param groups The groups. If two prefer the same name, it goes to the one directly below the
 *   kind, otherwise to the one with more uses.
 * @param used Names that the module already uses.
 * @returns Names by the group's ID.
 */
export function constantNames(groups: readonly SchemaGroup[], used: ReadonlySet<string>): Map<string, string> {
  const taken = new Set(used);
  const names = new Map<string, string>();
  const isTop = ({ uses }: SchemaGroup) => (uses.some(({ path }) => path.length === 2) ? 1 : 0);
  const sorted = [...groups].sort((a, b) => isTop(b) - isTop(a) || b.count - a.count || a.order - b.order);
  for (const group of sorted) {
    const name = unusedName(group, taken);
    taken.add(name);
    names.set(group.id, name);
  }
  return names;
}

function unusedName(group: SchemaGroup, taken: ReadonlySet<string>): string {
  const shared = sharedName(group);
  if (shared !== undefined && !isTaken(shared, taken)) return shared;
  const path = mostCommonPath(group);
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
 * Returns the path of the first use whose last name is the most common one. Among equally common
 * names, that of a list's items is preferred.
 */
function mostCommonPath({ uses }: SchemaGroup): SchemaPath {
  const lastOf = (path: SchemaPath) => camelCase(words(ownName(path)));
  const counts = counted(uses.map(({ path }) => lastOf(path)));
  const rank = (path: SchemaPath) => counts.get(lastOf(path))! + (path.at(-1) === "*" ? 0.5 : 0);
  return uses.reduce((best, use) => (rank(use.path) > rank(best.path) ? use : best)).path;
}

/**
 * Returns the name of a kind in the module.
 *
 * @param kind The kind.
 * @param more Words that distinguish it from others of that name, in the order in which they are
 *   tried: its version, its group.
 * @param used Names that the module already uses.
 */
export function kindName(kind: string, more: readonly string[], used: ReadonlySet<string>): string {
  const candidates = [kind, ...more.map((word) => kind + capitalized(word)), kind + more.map(capitalized).join("")];
  return candidates.find((name) => !isTaken(name, used)) ?? `${candidates.at(-1)}Kind`;
}

/**
 * Returns the name of the constant with the options that all versions of a kind share.
 *
 * @param kind The kind's name in the module.
 * @param used Names that the module already uses.
 */
export function commonName(kind: string, used: ReadonlySet<string>): string {
  const name = camelCase(wordsOf(kind));
  return isTaken(name, used) ? `${name}Versions` : name;
}

function capitalized(text: string): string {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}
