import assert from "node:assert/strict";
import { jsonLines } from "./json_lines.ts";

const EMOJI = new TextEncoder().encode('{"a":"😀"}\n');

const READ: readonly { name: string; chunks: readonly (string | Uint8Array)[]; expected: unknown[][] }[] = [
  {
    name: "lines that are received together as one list",
    chunks: ['{"a":1}\n{"a":2}\n'],
    expected: [[{ a: 1 }, { a: 2 }]],
  },
  { name: "a line in several chunks", chunks: ['{"a"', ":1", '}\n{"a":', "2}\n"], expected: [[{ a: 1 }], [{ a: 2 }]] },
  { name: "a character in several chunks", chunks: [EMOJI.slice(0, 7), EMOJI.slice(7)], expected: [[{ a: "😀" }]] },
  { name: "a last line without a line feed", chunks: ['{"a":1}\n', '{"a":2}'], expected: [[{ a: 1 }], [{ a: 2 }]] },
  { name: "no value from empty lines", chunks: ["\n\n", '{"a":1}\n\n'], expected: [[{ a: 1 }]] },
  { name: "no value from an empty body", chunks: [], expected: [] },
];

for (const { name, chunks, expected } of READ) {
  Deno.test(`jsonLines reads ${name}`, async () => {
    const read: unknown[][] = [];
    for await (const values of jsonLines(ReadableStream.from(chunks.map(bytes)))) read.push(values);
    assert.deepEqual(read, expected);
  });
}

const TRUNCATED: readonly { name: string; last: string | Uint8Array }[] = [
  { name: "in the middle of a value", last: `{"a":` },
  { name: "before the last brace", last: `{"a":{"b":1}` },
  { name: "in the middle of a character", last: EMOJI.slice(0, 7) },
];

for (const { name, last } of TRUNCATED) {
  Deno.test(`jsonLines throws a TruncatedStreamError if the body ends ${name}`, async () => {
    const lines = jsonLines(ReadableStream.from([bytes(`{"a":1}\n`), bytes(last)]));
    assert.deepEqual((await lines.next()).value, [{ a: 1 }]);
    await assert.rejects(lines.next(), { name: "TruncatedStreamError", code: "TruncatedStream" });
  });
}

Deno.test("jsonLines rejects a line that is not JSON, and quotes its start", async () => {
  const body = ReadableStream.from([bytes(`{"a":1}\n`), bytes(`<html>${"x".repeat(200)}\n`)]);
  const lines = jsonLines(body);
  assert.deepEqual((await lines.next()).value, [{ a: 1 }]);
  await assert.rejects(lines.next(), {
    name: "SyntaxError",
    message: `Cannot read watch: a line is not JSON: "<html>${"x".repeat(74)}"`,
  });
});

Deno.test("jsonLines rejects a line that is too long, but not several lines that are longer together", async () => {
  const chunks = [`{"a":1}\n{"a`, `":2`, `}\n{"a":34`, "5", "6", "7}\n"].map(bytes);
  const lines = jsonLines(ReadableStream.from(chunks), undefined, 8);
  assert.deepEqual((await lines.next()).value, [{ a: 1 }]);
  assert.deepEqual((await lines.next()).value, [{ a: 2 }]);
  await assert.rejects(lines.next(), {
    name: "SyntaxError",
    message: "Cannot read watch: a line is longer than 8 characters",
  });
});

Deno.test("jsonLines cancels the body when its reader stops early", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes(`{"a":1}\n`)),
    cancel: () => void (isCancelled = true),
  });
  for await (const _ of jsonLines(body)) break;
  assert.equal(isCancelled, true);
});

function bytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
}
