/** Finds import cycles: groups of files that cannot be read, tested or moved one by one. */
import { posix } from "node:path";

/** The files that each file imports. */
export type Imports = ReadonlyMap<string, readonly string[]>;

// Imports and re-exports are at the start of a line, and may span several lines.
const STATEMENT = /^(?:import|export)\s(?:[^;"'`]*?\sfrom\s)?\s*"(\.{1,2}\/[^"]+)"/gm;

/**
 * Returns the files that a file imports by relative paths, also for types. Dynamic imports are
 * ignored.
 *
 * @param file Path of the file.
 * @param code Content of the file.
 * @returns Paths, relative to the same folder as `file`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const code = 'import { a } from "./delay.ts";\nimport "../base/clock.ts";\nimport "node:os";';
 * const imports = importsOf("src/queue/queue.ts", code);
 * assert.deepEqual(imports, ["src/queue/delay.ts", "src/base/clock.ts"]);
 * ```
 */
export function importsOf(file: string, code: string): string[] {
  return [...code.matchAll(STATEMENT)].map(([, path = ""]) => posix.join(posix.dirname(file), path));
}

/**
 * Returns the cycles: groups of files that import each other, directly or indirectly.
 *
 * @param imports The imports of each file. Files without an entry import no other.
 * @returns Each cycle once, with its files in the order in which they are found.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(cyclesOf(new Map([["a.ts", ["b.ts"]], ["b.ts", ["c.ts"]]])), []);
 * const imports = new Map([["a.ts", ["b.ts"]], ["b.ts", ["a.ts"]]]);
 * assert.deepEqual(cyclesOf(imports), [["a.ts", "b.ts"]]);
 * ```
 */
export function cyclesOf(imports: Imports): string[][] {
  // Tarjan's strongly connected components: a file that reaches an open file belongs to its cycle.
  // `visited` maps a file to its position in the order of visits.
  const visited = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  for (const file of imports.keys()) if (!visited.has(file)) visit(file);
  return cycles;

  /** Returns the earliest open file that this file reaches. */
  function visit(file: string): number {
    const order = visited.size;
    visited.set(file, order);
    open.push(file);
    const next = imports.get(file) ?? [];
    let earliest = order;
    for (const other of next) {
      if (!visited.has(other)) earliest = Math.min(earliest, visit(other));
      else if (open.includes(other)) earliest = Math.min(earliest, visited.get(other)!);
    }
    if (earliest < order) return earliest;
    const cycle = open.splice(open.indexOf(file));
    if (cycle.length > 1 || next.includes(file)) cycles.push(cycle);
    return earliest;
  }
}
