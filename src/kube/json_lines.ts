/** The lines of a watch. */
import type { AnswerBody } from "./answer.ts";
import { TruncatedStreamError } from "./truncated_stream_error.ts";

// Forty times the largest object that etcd takes unless it is told otherwise.
const LONGEST_LINE = 64 << 20;

/**
 * Reads a body of JSON lines. What arrives together is handed out together: a list a chunk, never empty.
 *
 * @param body The body. It is cancelled when the reader stops early.
 * @param signal Ends the reading.
 * @param longest How many characters a line may have.
 * @throws {SyntaxError} If a line is not JSON, or too long.
 * @throws {TruncatedStreamError} If the body ends in the middle of a line.
 */
export async function* jsonLines(
  body: AnswerBody,
  signal?: AbortSignal,
  longest: number = LONGEST_LINE,
): AsyncGenerator<unknown[], void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // A request's own signal is not enough: what links it to ours may be collected before it is told.
  const cancel = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    let rest = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const text = decoder.decode(read.value, { stream: true });
      if (!text.includes("\n")) {
        rest += text;
        if (rest.length > longest) {
          throw new SyntaxError(`Cannot read a watch: a line has more than ${longest} characters`);
        }
        continue;
      }
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      const values = lines.filter((line) => line !== "").map(parse);
      if (values.length > 0) yield values;
    }
    // A letter that was cut off counts as well.
    rest += decoder.decode();
    if (rest.trim() !== "" && !signal?.aborted) yield [parseLast(rest)];
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Parses a last line that has no line feed. Events are objects, so what parses is whole. */
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
    throw new SyntaxError(`Cannot read a watch: a line is not JSON: "${line.slice(0, 80)}"`, { cause });
  }
}
