/** Reads the JSON lines of a watch. */
import type { WireBody } from "./response.ts";
import { TruncatedStreamError } from "./connection_error.ts";

// In characters: forty times the largest object that etcd accepts by default.
const MAX_LINE = 64 << 20;

/**
 * Reads a body of JSON lines. Yields the values of each received chunk as one list, which is never
 * empty.
 *
 * @param body The body. It is cancelled if the caller stops iterating early.
 * @param signal Stops reading.
 * @param maxLine Longest line, in characters.
 * @throws {SyntaxError} If a line is not JSON, or too long.
 * @throws {TruncatedStreamError} If the body ends in the middle of a line.
 */
export async function* jsonLines(
  body: WireBody,
  signal?: AbortSignal,
  maxLine: number = MAX_LINE,
): AsyncGenerator<unknown[], void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // The signal of the request is not enough: Deno may garbage-collect the link to it.
  const cancel = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const text = decoder.decode(read.value, { stream: true });
      if (!text.includes("\n")) {
        rest += text;
        if (rest.length > maxLine) {
          throw new SyntaxError(`Cannot read watch: a line is longer than ${maxLine} characters`);
        }
        continue;
      }
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      const values = lines.filter((line) => line !== "").map(parse);
      if (values.length > 0) yield values;
    }
    // Flushes the decoder, so that an incomplete character is also reported as truncated.
    rest += decoder.decode();
    if (rest.trim() !== "" && !signal?.aborted) yield [parseLast(rest)];
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}

/**
 * Parses a last line that has no line feed. If it parses, it is complete, because a prefix of a
 * JSON object is never valid JSON.
 */
function parseLast(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    const message = `the stream ended in the middle of a line, after ${line.length} of its characters`;
    throw new TruncatedStreamError(message, { cause });
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new SyntaxError(`Cannot read watch: a line is not JSON: "${line.slice(0, 80)}"`, { cause });
  }
}
