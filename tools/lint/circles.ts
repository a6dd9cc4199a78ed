/** Finds files that import one another in a circle, by whatever way: none of them can be read, tested or moved without all the others. */
import { posix } from "node:path";

/** Files, each with those that it imports. */
export type Imports = ReadonlyMap<string, readonly string[]>;

// Imports and re-exports stand at the beginning of a line; what they name may go over several.
const STATEMENT = /^(?:import|export)\s(?:[^;"'`]*?\sfrom\s)?\s*"(\.{1,2}\/[^"]+)"/gm;

/**
 * What a file imports of the same package, types too. Imports that happen only when they are asked for do not count.
 *
 * @param file Its path.
 * @param code Its text.
 * @returns Paths, from where the file's own starts.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const code = 'import { delay } from "./delay.ts";\nexport type { Clock } from "../base/clock.ts";\nimport "node:os";';
 * assert.deepEqual(importsOf("src/queue/queue.ts", code), ["src/queue/delay.ts", "src/base/clock.ts"]);
 * ```
 */
export function importsOf(file: string, code: string): string[] {
  return [...code.matchAll(STATEMENT)].map(([, path = ""]) => posix.join(posix.dirname(file), path));
}

/**
 * The circles: files of which each leads to every other.
 *
 * @param imports Who imports whom. What is imported and has no entry leads nowhere.
 * @returns Each circle once, its files in the order in which they are met.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(circlesOf(new Map([["a.ts", ["b.ts"]], ["b.ts", ["c.ts"]]])), []);
 * assert.deepEqual(circlesOf(new Map([["a.ts", ["b.ts"]], ["b.ts", ["a.ts"]]])), [["a.ts", "b.ts"]]);
 * ```
 */
export function circlesOf(imports: Imports): string[][] {
  // Tarjan's strongly connected components: who reaches a file that is still open belongs to its circle.
  const met = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  for (const file of imports.keys()) if (!met.has(file)) visit(file);
  return circles;

  /** The earliest file that is still open and can be reached from this one. */
  function visit(file: string): number {
    const own = met.size;
    met.set(file, own);
    open.push(file);
    const next = imports.get(file) ?? [];
    let earliest = own;
    for (const other of next) {
      if (!met.has(other)) earliest = Math.min(earliest, visit(other));
      else if (open.includes(other)) earliest = Math.min(earliest, met.get(other)!);
    }
    if (earliest < own) return earliest;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1 || next.includes(file)) circles.push(circle);
    return earliest;
  }
}
