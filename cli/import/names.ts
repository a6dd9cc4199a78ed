/** Names in the module: of constants after the properties they stand for, of kinds after the kind. */
import type { SchemaGroup, SchemaPath } from "./schema_index.ts";

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
 * @param groups The schemas that get one. Those right below the kind choose first, then those that stand most often.
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

/** The path of the first use whose last name most uses have; of as many, one of an item, which is named for what it is. */
function commonest({ uses }: SchemaGroup): SchemaPath {
  const counts = new Map<string, number>();
  const lastOf = (path: SchemaPath) => camelCase(words(ownName(path)));
  for (const { path } of uses) counts.set(lastOf(path), (counts.get(lastOf(path)) ?? 0) + 1);
  const rank = (path: SchemaPath) => counts.get(lastOf(path))! + (path.at(-1) === "*" ? 0.5 : 0);
  return uses.reduce((best, use) => (rank(use.path) > rank(best.path) ? use : best)).path;
}

/** The last name of a path with the marks behind it: `["hosts", "*"]`. */
function ownName(path: SchemaPath): SchemaPath {
  const last = path.findLastIndex((name) => name !== "*");
  return path.slice(Math.max(last, 0));
}

/** The words of a path; what stands for items is said by the singular. */
function words(path: SchemaPath): string[] {
  return path.flatMap((name, i) => {
    if (name === "*") return [];
    const parts = wordsOf(name);
    if (path[i + 1] !== "*" || parts.length === 0) return parts;
    const last = parts.at(-1)!;
    return [...parts.slice(0, -1), ...singular(last)];
  });
}

/** `["tls", "config"]` of `tlsConfig`, `["http", "get"]` of `HTTPGet`. */
function wordsOf(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+/g)?.map((word) => word.toLowerCase()) ?? [];
}

/** The word, and "item" behind it where it is no plural. */
function singular(word: string): string[] {
  if (!word.endsWith("s") || /(?:ss|us|is|series)$/.test(word)) return [word, "item"];
  if (/..ies$/.test(word)) return [word.replace(/ies$/, "y")];
  if (/(?:ss|x|zz|sh|[^a]ch|alias|status|bus)es$/.test(word)) return [word.slice(0, -2)];
  return [word.slice(0, -1)];
}

function camelCase(parts: readonly string[]): string {
  const joined = parts.map((part, i) => (i === 0 ? part : part[0]!.toUpperCase() + part.slice(1))).join("");
  return joined.replace(/^(?=[0-9])/, "_");
}

/**
 * The name of a kind in the module.
 *
 * @param kind The kind.
 * @param more Words to tell it from others of that name, in the order in which they are tried: its version, its group.
 * @param used Names that are there already.
 */
export function kindName(kind: string, more: readonly string[], used: ReadonlySet<string>): string {
  const candidates = [kind, ...more.map((word) => kind + capitalised(word)), kind + more.map(capitalised).join("")];
  return candidates.find((name) => !isTaken(name, used)) ?? `${candidates.at(-1)}Kind`;
}

function capitalised(text: string): string {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}
