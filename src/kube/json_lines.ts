/** The lines of a watch. */

/**
 * Reads a body of JSON lines. What arrives together is handed out together: a list a chunk, never empty.
 *
 * @param body The body. It is cancelled when the reader stops early.
 * @throws {SyntaxError} If a line is not JSON.
 */
export async function* jsonLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown[], void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    rest = lines.pop()!;
    const values = lines.filter((line) => line !== "").map(parse);
    if (values.length > 0) yield values;
  }
  if (rest.trim() !== "") yield [parse(rest)];
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new SyntaxError(`Cannot read a watch: a line is not JSON: "${line.slice(0, 80)}"`, { cause });
  }
}
