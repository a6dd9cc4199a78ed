/** `op trace`: stack traces of an executable, read as source. */
import { resolve } from "node:path";
import { Failure } from "../exit_code.ts";
import type { Io } from "../io.ts";
import { BUNDLE_NAME } from "../build/bundle.ts";
import { type MapFile, places, type SourcePlace } from "../build/source_map.ts";

// Deno colours the parts of a place apart when it tells of an error that nobody caught, also where no terminal is.
const COLOUR = "(?:\\x1b\\[[0-9;]*m)*";

/** A place in the executable, with the URL that Deno gives to what is compiled in. */
const PLACE = new RegExp(
  `(?:file:///[^\\s()"\\\\]*/)?([\\w.@+-]+\\.js)${COLOUR}:${COLOUR}(\\d+)${COLOUR}:${COLOUR}(\\d+)`,
  "g",
);

/**
 * Prints a log with its stack traces as source: `website/controller.ts:23:11` in place of
 * `file:///tmp/deno-compile-shop/operator.js:14:20395`. Control sequences are removed;
 * everything else stays as it is, so that lines of JSON stay JSON.
 *
 * @param executable The executable, or the `.map` that `op build` put beside it.
 * @param log The log, or `-` for standard input.
 * @param io The terminal and the shell.
 * @throws {Failure} If one of the files is not there or is no source map.
 */
export async function trace(executable: string, log: string, io: Io): Promise<void> {
  const placeOf = placesIn(await readMap(executable.endsWith(".map") ? executable : `${executable}.map`, io));
  const readable = await opened(log, io);
  let isHead = true;
  for await (const line of linesOf(readable)) {
    io.out(`${isHead ? "" : "\n"}${traced(line, placeOf)}`);
    isHead = false;
  }
}

/** From a file of the executable, a line and a column of it to the place in a source; nothing where there is none. */
export type PlaceOf = (file: string, line: number, column: number) => SourcePlace | undefined;

/**
 * Answers the sources of places.
 *
 * @param map The maps of an executable's files.
 */
export function placesIn({ x_chunks: chunks = {}, ...main }: MapFile): PlaceOf {
  const files = new Map(Object.entries({ ...chunks, [BUNDLE_NAME]: main }).map(([name, map]) => [name, places(map)]));
  return (file, line, column) => files.get(file)?.(line, column);
}

/**
 * A text with its places as source.
 *
 * @param text The text.
 * @param placeOf Answers the source of a place.
 */
export function traced(text: string, placeOf: PlaceOf): string {
  return text.replace(PLACE, (whole, file: string, line: string, column: string) => {
    const found = placeOf(file, Number(line), Number(column));
    return found === undefined ? whole : `${found.source}:${found.line}:${found.column}`;
  });
}

async function readMap(path: string, io: Io): Promise<MapFile> {
  const text = await Deno.readTextFile(resolve(io.cwd, path)).catch((cause) => {
    throw new Failure(`Cannot read "${path}": name an executable that "op build" made, with its .map beside it`, {
      cause,
    });
  });
  try {
    const map = JSON.parse(text);
    if (map.version === 3 && typeof map.mappings === "string") return map;
  } catch { /* it is said below */ }
  throw new Failure(
    `Cannot read "${path}": it is no source map; name the .map that "op build" put beside the executable`,
  );
}

async function opened(log: string, io: Io): Promise<ReadableStream<Uint8Array>> {
  if (log === "-") return Deno.stdin.readable;
  try {
    return (await Deno.open(resolve(io.cwd, log))).readable;
  } catch (cause) {
    throw new Failure(`Cannot read "${log}": there is no such file`, { cause });
  }
}

/** Lines as they come, the last one empty when the text ends with a line: a log is traced while it is written. */
async function* linesOf(readable: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of readable.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  yield rest;
}
