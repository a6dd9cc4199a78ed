/** `op trace`: maps stack traces of an executable to its source. */
import { resolve } from "node:path";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { BUNDLE_NAME } from "../build/bundle.ts";
import { type MapFile, places, type SourcePlace } from "../build/source_map.ts";

// Deno colors the parts of a position in uncaught errors, even without a terminal.
const COLOR = "(?:\\x1b\\[[0-9;]*m)*";

/** A position in the executable, with the URL that Deno gives to compiled files. */
const PLACE = new RegExp(
  `(?:file:///[^\\s()"\\\\]*/)?([\\w.@+-]+\\.js)${COLOR}:${COLOR}(\\d+)${COLOR}:${COLOR}(\\d+)`,
  "g",
);

/**
 * Prints a log with its stack traces mapped to the source: `website/controller.ts:23:11` instead of
 * `file:///tmp/deno-compile-shop/operator.js:14:20395`. Control sequences are removed. Everything
 * else is unchanged, so that lines of JSON remain valid.
 *
 * @param executable The executable, or the `.map` file next to it.
 * @param log The log, or `-` for standard input.
 * @param io The terminal and the shell.
 * @throws {Failure} If a file does not exist, or the map is not a source map.
 */
export async function trace(executable: string, log: string, io: Io): Promise<void> {
  const placeOf = placesIn(await readMap(executable.endsWith(".map") ? executable : `${executable}.map`, io));
  const readable = await opened(log, io);
  let isFirst = true;
  for await (const line of linesOf(readable)) {
    io.out(`${isFirst ? "" : "\n"}${traced(line, placeOf)}`);
    isFirst = false;
  }
}

/**
 * Maps a file of the executable, a line and a column to a position in the source. Returns
 * `undefined` if the source map has no such position.
 */
export type PlaceOf = (file: string, line: number, column: number) => SourcePlace | undefined;

/**
 * Returns a function that maps positions of an executable.
 *
 * @param map The source maps of its files.
 */
export function placesIn({ x_chunks: chunks = {}, ...main }: MapFile): PlaceOf {
  const files = new Map(Object.entries({ ...chunks, [BUNDLE_NAME]: main }).map(([name, map]) => [name, places(map)]));
  return (file, line, column) => files.get(file)?.(line, column);
}

/**
 * Returns text with its positions mapped to the source.
 *
 * @param text The text.
 * @param placeOf Maps a position.
 */
export function traced(text: string, placeOf: PlaceOf): string {
  return text.replace(PLACE, (whole, file: string, line: string, column: string) => {
    const found = placeOf(file, Number(line), Number(column));
    return found === undefined ? whole : `${found.source}:${found.line}:${found.column}`;
  });
}

async function readMap(path: string, io: Io): Promise<MapFile> {
  const text = await Deno.readTextFile(resolve(io.cwd, path)).catch((cause) => {
    throw new Failure(
      `Cannot read "${path}": the source map does not exist. Name an executable that "op build" wrote, with its .map file next to it.`,
      { cause },
    );
  });
  try {
    const map = JSON.parse(text);
    if (map.version === 3 && typeof map.mappings === "string") return map;
  } catch { /* The error below reports it. */ }
  throw new Failure(
    `Cannot read "${path}": it is not a source map. Name the .map file that "op build" wrote next to the executable.`,
  );
}

async function opened(log: string, io: Io): Promise<ReadableStream<Uint8Array>> {
  if (log === "-") return Deno.stdin.readable;
  try {
    return (await Deno.open(resolve(io.cwd, log))).readable;
  } catch (cause) {
    throw new Failure(`Cannot read "${log}": the file does not exist.`, { cause });
  }
}

/**
 * Yields lines as they arrive, because a log may still be written. The last line is empty if the
 * text ends with a line end.
 */
async function* linesOf(readable: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  yield rest;
}
