import assert from "node:assert/strict";
import { StreamedBody } from "./streamed_body.ts";

/** Returns a body and the calls of its callbacks. */
function bodyWithCalls() {
  const read: number[] = [];
  const cancelled: unknown[] = [];
  const body = new StreamedBody((bytes) => void read.push(bytes), (reason) => void cancelled.push(reason));
  return { body, read, cancelled };
}

function bytes(of: string): Uint8Array {
  return new TextEncoder().encode(of);
}

Deno.test("StreamedBody returns unread content in one chunk, and reports the bytes of its frames", async () => {
  const { body, read, cancelled } = bodyWithCalls();
  body.push(bytes("one"), 3);
  // The frame had padding.
  body.push(bytes("two"), 10);
  assert.deepEqual(read, []);
  const reader = body.getReader();
  assert.deepEqual(await reader.read(), { done: false, value: bytes("onetwo") });
  assert.deepEqual(read, [13]);
  body.push(bytes("three"), 5);
  body.end();
  assert.deepEqual(await reader.read(), { done: false, value: bytes("three") });
  assert.deepEqual(await reader.read(), { done: true });
  assert.deepEqual(await reader.read(), { done: true });
  assert.deepEqual([read, cancelled], [[13, 5], []]);
});

Deno.test("StreamedBody uses little more memory for many small frames than their content", () => {
  const { body } = bodyWithCalls();
  const one = bytes("x");
  const before = memory();
  for (let i = 0; i < 1 << 20; i++) body.push(one, 1);
  // As separate chunks, they would take more than 100 MiB.
  assert(memory() - before < 16 << 20, `${memory() - before} bytes`);
});

Deno.test("StreamedBody resolves a pending read with the content that is received next", async () => {
  const { body, read } = bodyWithCalls();
  const reader = body.getReader();
  const pending = reader.read();
  const content = bytes("one");
  body.push(content, 3);
  // The buffer of the connection is reused.
  content.fill(0);
  assert.deepEqual(read, [3]);
  assert.deepEqual(await pending, { done: false, value: bytes("one") });
  const last = reader.read();
  body.end();
  assert.deepEqual(await last, { done: true });
});

Deno.test("StreamedBody returns the content that precedes a failure, and then throws its error", async () => {
  const { body } = bodyWithCalls();
  body.push(bytes("one"), 3);
  body.fail(new Error("lost"));
  // Ignored: the body has ended.
  body.push(bytes("two"), 3);
  body.end();
  const reader = body.getReader();
  assert.deepEqual(await reader.read(), { done: false, value: bytes("one") });
  await assert.rejects(reader.read(), /lost/);
  await assert.rejects(reader.read(), /lost/);
  const { body: other } = bodyWithCalls();
  const pending = other.getReader().read();
  other.fail(new Error("lost"));
  await assert.rejects(pending, /lost/);
});

Deno.test("StreamedBody ends for its reader when it is cancelled, and calls onCancel once", async () => {
  const { body, read, cancelled } = bodyWithCalls();
  const reader = body.getReader();
  body.push(bytes("one"), 3);
  await reader.cancel("enough");
  await body.cancel("again");
  body.push(bytes("two"), 3);
  body.fail(new Error("lost"));
  assert.deepEqual(await reader.read(), { done: true });
  assert.deepEqual([read, cancelled], [[], ["enough"]]);
  const other = bodyWithCalls();
  const pending = other.body.getReader().read();
  await other.body.cancel("enough");
  assert.deepEqual(await pending, { done: true });
});

Deno.test("StreamedBody that has ended does not call onCancel, and discards its unread content", async () => {
  const { body, cancelled } = bodyWithCalls();
  body.push(bytes("one"), 3);
  body.end();
  await body.cancel("late");
  assert.deepEqual(cancelled, []);
  assert.deepEqual(await body.getReader().read(), { done: true });
});

Deno.test("StreamedBody decodes text whose characters are split over frames", async () => {
  const { body } = bodyWithCalls();
  const text = body.text();
  for (const byte of bytes("aä€😀")) body.push(Uint8Array.of(byte), 1);
  body.push(bytes("ä").subarray(0, 1), 1);
  body.end();
  // The last character is incomplete.
  assert.equal(await text, "aä€😀\ufffd");
});

Deno.test("StreamedBody rejects text that is longer than the limit, and cancels", async () => {
  const { body: short } = bodyWithCalls();
  short.push(bytes("0123456789"), 10);
  short.end();
  assert.equal(await short.text(10), "0123456789");
  const { body: long, cancelled } = bodyWithCalls();
  for (const part of ["012345", "67890"]) long.push(bytes(part), 10);
  await assert.rejects(long.text(10), { code: "ResponseTooLarge" });
  assert.equal(cancelled.length, 1);
});

function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
