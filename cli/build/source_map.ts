/**
 * Source maps, as ECMA-426 has them: from a place in a bundle to the place in the file that it was made of. Read here, since the only reader
 * that comes with Deno is not in its oldest version.
 */

/** A source map, as far as it is used here. */
export interface SourceMap {
  readonly version: 3;
  readonly sources: readonly string[];
  readonly sourcesContent?: readonly (string | null)[];
  readonly names: readonly string[];
  readonly mappings: string;
}

/** The source maps of a program of several files: that of the one that is run, and in it those of the others by their names. */
export interface MapFile extends SourceMap {
  readonly x_chunks?: { readonly [name: string]: SourceMap };
}

/**
 * Several source maps as one file, which any reader takes for the map of the first.
 *
 * @param maps The maps by the names of the files, that of the file that is run first.
 */
export function mapFile(maps: ReadonlyMap<string, SourceMap>): MapFile {
  const [[_, first], ...others] = [...maps] as [[string, SourceMap], ...[string, SourceMap][]];
  return { ...first, x_chunks: Object.fromEntries(others) };
}

/** A place in a source, lines and columns from 1, as stack traces have them. */
export interface SourcePlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  /** What is called there in the source, where the bundle has another name. */
  readonly name?: string;
}

/** A piece of one line of the bundle: from its column on, it is of this place. All from 0; nothing where it is of no source. */
interface Segment {
  readonly column: number;
  readonly from?: { readonly source: number; readonly line: number; readonly column: number; readonly name?: number };
}

/**
 * Makes the function that finds places.
 *
 * @param map The source map.
 * @returns From a line and a column of the bundle, both from 1, to the place in a source; nothing where there is none.
 * @throws {SyntaxError} If the map is not one.
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
  const lines = decoded(map.mappings);
  return (line, column) => {
    const found = lines[line - 1]?.findLast((segment) => segment.column <= column - 1)?.from;
    const source = found === undefined ? undefined : map.sources[found.source];
    if (found === undefined || source === undefined) return undefined;
    const name = found.name === undefined ? undefined : map.names[found.name];
    return { source, line: found.line + 1, column: found.column + 1, ...(name === undefined ? {} : { name }) };
  };
}

/** Lines apart by semicolons, segments by commas; all but a segment's column goes on from the segment before, over the lines. */
function decoded(mappings: string): Segment[][] {
  let [source, line, column, name] = [0, 0, 0, 0];
  return mappings.split(";").map((text) => {
    let place = 0;
    return text.split(",").filter((segment) => segment !== "").map((segment) => {
      const [toPlace, toSource, toLine, toColumn, toName] = numbers(segment);
      place += toPlace ?? 0;
      if (toSource === undefined) return { column: place };
      source += toSource;
      line += toLine ?? 0;
      column += toColumn ?? 0;
      if (toName !== undefined) name += toName;
      return { column: place, from: { source, line, column, ...(toName === undefined ? {} : { name }) } };
    });
  });
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Base 64 VLQ: five bits a digit, the lowest first; the sixth says that there is more; the lowest bit of all is the sign. */
function numbers(segment: string): number[] {
  const found: number[] = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = DIGITS.indexOf(letter);
    if (digit < 0) throw new SyntaxError(`Cannot read a source map: "${letter}" is no digit of it`);
    value += (digit & 31) << shift;
    if ((digit & 32) !== 0) {
      shift += 5;
      continue;
    }
    found.push((value & 1) === 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return found;
}
