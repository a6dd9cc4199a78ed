/** Source maps (ECMA-426), from positions in a bundle to positions in its sources. */
import { TraceMap, traceSegment } from "@jridgewell/trace-mapping";

/** A source map. */
export interface SourceMap {
  readonly version: 3;
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
  readonly names: readonly string[];
  readonly mappings: string;
}

/**
 * The source maps of a program with several files: the map of the file that is run, and the others
 * by file name.
 */
export interface MapFile extends SourceMap {
  readonly x_chunks?: { readonly [name: string]: SourceMap };
}

/**
 * Combines source maps in one file. Other tools read it as the map of the first file.
 *
 * @param maps Source maps by file name, the file that is run first.
 */
export function mapFile(maps: ReadonlyMap<string, SourceMap>): MapFile {
  const [[_, first], ...others] = [...maps] as [[string, SourceMap], ...[string, SourceMap][]];
  return { ...first, x_chunks: Object.fromEntries(others) };
}

/** A position in a source. Line and column start at 1, as in stack traces. */
export interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  /** The name at this position in the source, if the bundle has another one. */
  readonly name?: string;
}

/**
 * Returns a function that maps positions.
 *
 * @param map The source map.
 * @returns A function from a line and a column of the bundle, both starting at 1, to a position in
 *   a source, or `undefined` if there is none.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const placeOf = places({ version: 3, sources: ["a.ts"], names: [], mappings: ";AAEE" });
 * assert.deepEqual(placeOf(2, 1), { source: "a.ts", line: 3, column: 3 });
 * assert.equal(placeOf(1, 1), undefined);
 * ```
 */
export function places(map: SourceMap): (line: number, column: number) => SourcePlace | undefined {
  // Indexes instead of `originalPositionFor`, which would resolve the names of sources as URLs.
  const traced = new TraceMap({ ...map, names: [...map.names], sources: [...map.sources], sourcesContent: [] });
  return (line, column) => {
    const [, source, sourceLine, sourceColumn, name] = traceSegment(traced, line - 1, column - 1) ?? [];
    const file = source === undefined ? undefined : map.sources[source];
    if (file === undefined || sourceLine === undefined || sourceColumn === undefined) return undefined;
    const original = name === undefined ? undefined : map.names[name];
    const found = { source: file, line: sourceLine + 1, column: sourceColumn + 1 };
    return original === undefined ? found : { ...found, name: original };
  };
}
