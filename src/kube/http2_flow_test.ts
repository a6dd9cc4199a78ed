import assert from "node:assert/strict";
import { answer, asking, bytes, OK, peerOf, text } from "./_http2_peer.ts";
import { CODE, FLAG, four, FRAME, SETTING } from "./http2_frames.ts";

Deno.test("a body waits while the server makes its window smaller than what was sent, and goes on when it may", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking({ body: "x".repeat(65_535) + "0123456789" }));
  await peer.got(FRAME.headers, 1);
  // The stream has 65,535 sent, so that its window is as far below nothing.
  peer.send((out) => out.settings([[SETTING.window, 0]]));
  peer.send((out) => out.numbers(FRAME.window, 0, 1000));
  const data = () => peer.frames.filter(({ type }) => type === FRAME.data);
  const count = data().length;
  peer.send((out) => out.numbers(FRAME.window, 1, 65_535));
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("nothing ")));
  await peer.got(FRAME.ping, 0);
  assert.equal(data().length, count);
  peer.send((out) => out.numbers(FRAME.window, 1, 4));
  while (data().length === count) await peer.sent(peer.frames.length + 1);
  assert.equal(text(data().at(-1)!.payload), "0123");
  peer.send((out) => out.settings([[SETTING.window, 100]]));
  while (data().length === count + 1) await peer.sent(peer.frames.length + 1);
  assert.deepEqual([text(data().at(-1)!.payload), data().at(-1)!.flags], ["456789", FLAG.end]);
  peer.send((out) => answer(out, 1));
  assert.equal((await asked).status, 200);
});

Deno.test("the windows of a stream and of the connection hold back a body, each for itself", async () => {
  const peer = peerOf();
  const asked = [1, 3].map(() => peer.http2.request(asking({ body: "x".repeat(40_000) })));
  await peer.got(FRAME.headers, 3);
  const sentOf = (id: number) =>
    peer.frames.filter(({ type, stream }) => type === FRAME.data && stream === id)
      .reduce((sum, { payload }) => sum + payload.length, 0);
  assert.deepEqual([sentOf(1), sentOf(3)], [40_000, 25_535]);
  peer.send((out) => out.numbers(FRAME.window, 3, 100_000));
  peer.send((out) => out.numbers(FRAME.window, 0, 10_000));
  while (sentOf(3) < 35_535) await peer.sent(peer.frames.length + 1);
  assert.equal(sentOf(3), 35_535);
  peer.send((out) => out.numbers(FRAME.window, 0, 10_000));
  while (sentOf(3) < 40_000) await peer.sent(peer.frames.length + 1);
  for (const stream of [1, 3]) peer.send((out) => answer(out, stream));
  for (const each of asked) assert.equal((await each).status, 200);
});

Deno.test("what fills up an answer counts against its window, and is given back", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking());
  await peer.got(FRAME.headers, 1);
  const filled = Uint8Array.of(255, ...bytes("x"), ...new Uint8Array(255));
  const frames = Math.ceil(2 * 2 ** 20 / filled.length);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    for (let i = 0; i < frames; i++) out.frame(FRAME.data, FLAG.padded, 1, filled);
  });
  assert.equal(four((await peer.got(FRAME.window, 1)).payload, 0), frames * filled.length);
  // More than the first window in all: what was given back counts.
  peer.send((out) => {
    for (let i = 0; i < frames + 10; i++) out.frame(FRAME.data, FLAG.padded, 1, filled);
    out.frame(FRAME.data, FLAG.end, 1, bytes(""));
  });
  assert.equal(await (await asked).text(), "x".repeat(2 * frames + 10));
});

Deno.test("what fills up a stream without saying anything is given back at once", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking({ streams: true }));
  await peer.got(FRAME.headers, 1);
  const filled = Uint8Array.of(255, ...new Uint8Array(255));
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    for (let i = 0; i < 8192; i++) out.frame(FRAME.data, FLAG.padded, 1, filled);
  });
  assert.equal(four((await peer.got(FRAME.window, 1)).payload, 0), 8192 * 256);
  await (await asked).body!.cancel();
});

Deno.test("an answer that is longer than what is read whole is refused, and others go on", async () => {
  const peer = peerOf({ longestAnswer: 10 });
  const asked = [1, 3, 5].map(() => peer.http2.request(asking()));
  const failed = assert.rejects(asked[0]!, {
    name: "LongAnswerError",
    message: "the answer has more than 10 bytes, which is more than is read at once: ask for less",
  });
  await peer.got(FRAME.headers, 5);
  peer.send((out) => {
    for (const stream of [1, 3, 5]) out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
    out.frame(FRAME.data, 0, 1, bytes("0123456789"));
    out.frame(FRAME.data, 0, 1, bytes(""));
    out.frame(FRAME.data, FLAG.end, 3, bytes("0123456789"));
    out.frame(FRAME.data, FLAG.end, 5, bytes("0123456789a"));
  });
  assert.equal(await (await asked[1]!).text(), "0123456789");
  await assert.rejects(asked[2]!, { name: "LongAnswerError" });
  peer.send((out) => out.frame(FRAME.data, 0, 1, bytes("a")));
  await failed;
  assert.equal(four((await peer.got(FRAME.reset, 1)).payload, 0), CODE.cancel);
  assert(peer.http2.isOpen);
});

Deno.test("empty pieces of an answer cost nothing", async () => {
  const peer = peerOf();
  const asked = [1, 3].map((n) => peer.http2.request(asking({ streams: n === 3 })));
  await peer.got(FRAME.headers, 3);
  peer.send((out) => {
    for (const stream of [1, 3]) {
      out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
      for (let i = 0; i < 1000; i++) out.frame(FRAME.data, 0, stream, bytes(""));
      out.frame(FRAME.data, FLAG.end, stream, bytes("x"));
    }
  });
  assert.equal(await (await asked[0]!).text(), "x");
  assert.deepEqual(await (await asked[1]!).body!.getReader().read(), { done: false, value: bytes("x") });
});

Deno.test("a header block may say how large its table is", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking());
  await peer.got(FRAME.headers, 1);
  peer.send((out) => answer(out, 1, Uint8Array.of(0x20, 0x8d)));
  assert.equal((await asked).status, 404);
});

Deno.test("a server that takes no requests for now is sent none until it does", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.concurrent, 0]]));
  await peer.sent(3);
  const asked = [false, true].map((isUrgent) => peer.http2.request(asking({ isUrgent, path: `/${isUrgent}` })));
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  await peer.got(FRAME.ping, 0);
  assert(!peer.frames.some(({ type }) => type === FRAME.headers));
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  // What may not wait goes first, though it came last.
  assert.match(text((await peer.got(FRAME.headers, 1)).payload), /\/true/);
  peer.send((out) => answer(out, 1));
  assert.equal((await asked[1]!).status, 200);
  assert.match(text((await peer.got(FRAME.headers, 3)).payload), /\/false/);
  peer.send((out) => answer(out, 3));
  assert.equal((await asked[0]!).status, 200);
});
