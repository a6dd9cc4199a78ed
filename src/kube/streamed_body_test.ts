import assert from "node:assert/strict";
import { StreamedBody } from "./streamed_body.ts";

/** A body, and what its connection was told. */
function body() {
  const read: number[] = [];
  const cancelled: unknown[] = [];
  const made = new StreamedBody((bytes) => void read.push(bytes), (reason) => void cancelled.push(reason));
  return { body: made, read, cancelled };
}

function bytes(of: string): Uint8Array {
  return new TextEncoder().encode(of);
}

Deno.test("StreamedBody hands out what came, in order, and tells of it when it is read", async () => {
  const { body: given, read, cancelled } = body();
  given.push(bytes("one"), 3);
  // Filled up: more was sent than is read.
  given.push(bytes("two"), 10);
  assert.deepEqual(read, []);
  const reader = given.getReader();
  assert.deepEqual(await reader.read(), { done: false, value: bytes("one") });
  assert.deepEqual(read, [3]);
  given.end();
  assert.deepEqual(await reader.read(), { done: false, value: bytes("two") });
  assert.deepEqual(await reader.read(), { done: true });
  assert.deepEqual(await reader.read(), { done: true });
  assert.deepEqual([read, cancelled], [[3, 10], []]);
});

Deno.test("StreamedBody hands what comes to whoever waits for it", async () => {
  const { body: given, read } = body();
  const reader = given.getReader();
  const waiting = reader.read();
  given.push(bytes("one"), 3);
  assert.deepEqual(read, [3]);
  assert.deepEqual(await waiting, { done: false, value: bytes("one") });
  const last = reader.read();
  given.end();
  assert.deepEqual(await last, { done: true });
});

Deno.test("StreamedBody that breaks off fails whoever reads, after what came before", async () => {
  const { body: given } = body();
  given.push(bytes("one"), 3);
  given.fail(new Error("lost"));
  // What comes later is not there any more.
  given.push(bytes("two"), 3);
  given.end();
  const reader = given.getReader();
  assert.deepEqual(await reader.read(), { done: false, value: bytes("one") });
  await assert.rejects(reader.read(), /lost/);
  await assert.rejects(reader.read(), /lost/);
  const { body: awaited } = body();
  const waiting = awaited.getReader().read();
  awaited.fail(new Error("lost"));
  await assert.rejects(waiting, /lost/);
});

Deno.test("StreamedBody that is given up is over for whoever reads, and the connection hears why, once", async () => {
  const { body: given, read, cancelled } = body();
  const reader = given.getReader();
  given.push(bytes("one"), 3);
  await reader.cancel("enough");
  await given.cancel("again");
  given.push(bytes("two"), 3);
  given.fail(new Error("lost"));
  assert.deepEqual(await reader.read(), { done: true });
  assert.deepEqual([read, cancelled], [[], ["enough"]]);
  const other = body();
  const waiting = other.body.getReader().read();
  await other.body.cancel("enough");
  assert.deepEqual(await waiting, { done: true });
});

Deno.test("StreamedBody that came to its end is not given up any more, and what was not read is gone", async () => {
  const { body: given, cancelled } = body();
  given.push(bytes("one"), 3);
  given.end();
  await given.cancel("late");
  assert.deepEqual(cancelled, []);
  assert.deepEqual(await given.getReader().read(), { done: true });
});

Deno.test("StreamedBody is read as text, whatever pieces it comes in", async () => {
  const { body: given, read } = body();
  const text = given.text();
  for (const byte of bytes("aä€😀")) given.push(Uint8Array.of(byte), 1);
  given.push(bytes("ä").subarray(0, 1), 1);
  given.end();
  // What breaks off in the middle of a letter says so.
  assert.equal(await text, "aä€😀\ufffd");
  assert.equal(read.length, 11);
});

Deno.test("StreamedBody is read as text no further than it may go", async () => {
  const { body: short } = body();
  short.push(bytes("0123456789"), 10);
  short.end();
  assert.equal(await short.text(10), "0123456789");
  const { body: long, cancelled } = body();
  for (const piece of ["012345", "67890"]) long.push(bytes(piece), 10);
  await assert.rejects(long.text(10), { name: "LongAnswerError", message: /the answer has more than 10 bytes/ });
  assert.equal(cancelled.length, 1);
});
