import assert from "node:assert/strict";
import { bytes, OK, Peer, request, respond, text } from "./_peer.ts";
import { CODE, FLAG, FRAME, SETTING, uint32 } from "./frames.ts";

Deno.test("a request body waits while its window is negative, and continues when it is positive again", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request({ body: "x".repeat(65_535) + "0123456789" }));
  await peer.firstFrame(FRAME.headers, 1);
  // 65,535 bytes were sent, so the window of the stream becomes -65,535.
  peer.send((out) => out.settings([[SETTING.window, 0]]));
  peer.send((out) => out.numbers(FRAME.window, 0, 1000));
  const data = () => peer.frames.filter(({ type }) => type === FRAME.data);
  const count = data().length;
  peer.send((out) => out.numbers(FRAME.window, 1, 65_535));
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  await peer.firstFrame(FRAME.ping, 0);
  assert.equal(data().length, count);
  peer.send((out) => out.numbers(FRAME.window, 1, 4));
  while (data().length === count) await peer.sent(peer.frames.length + 1);
  assert.equal(text(data().at(-1)!.payload), "0123");
  peer.send((out) => out.settings([[SETTING.window, 100]]));
  while (data().length === count + 1) await peer.sent(peer.frames.length + 1);
  assert.deepEqual([text(data().at(-1)!.payload), data().at(-1)!.flags], ["456789", FLAG.end]);
  peer.send((out) => respond(out, 1));
  assert.equal((await pending).status, 200);
});

Deno.test("the windows of the stream and of the connection each limit a request body", async () => {
  const peer = new Peer();
  const pending = [1, 3].map(() => peer.connection.request(request({ body: "x".repeat(40_000) })));
  await peer.firstFrame(FRAME.headers, 3);
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
  for (const stream of [1, 3]) peer.send((out) => respond(out, stream));
  for (const each of pending) assert.equal((await each).status, 200);
});

Deno.test("padding of a response reduces the window, and is added to it again", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 1);
  const padded = Uint8Array.of(255, ...bytes("x"), ...new Uint8Array(255));
  const frames = Math.ceil(2 * 2 ** 20 / padded.length);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    for (let i = 0; i < frames; i++) out.frame(FRAME.data, FLAG.padded, 1, padded);
  });
  assert.equal(uint32((await peer.firstFrame(FRAME.window, 1)).payload, 0), frames * padded.length);
  // More in total than the first window.
  peer.send((out) => {
    for (let i = 0; i < frames + 10; i++) out.frame(FRAME.data, FLAG.padded, 1, padded);
    out.frame(FRAME.data, FLAG.end, 1, bytes(""));
  });
  assert.equal(await (await pending).text(), "x".repeat(2 * frames + 10));
});

Deno.test("padding without content is added to the window of a streamed response again at once", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request({ streams: true }));
  await peer.firstFrame(FRAME.headers, 1);
  const padded = Uint8Array.of(255, ...new Uint8Array(255));
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    for (let i = 0; i < 8192; i++) out.frame(FRAME.data, FLAG.padded, 1, padded);
  });
  assert.equal(uint32((await peer.firstFrame(FRAME.window, 1)).payload, 0), 8192 * 256);
  await (await pending).body!.cancel();
});

Deno.test("a response larger than the limit is rejected, and other requests continue", async () => {
  const peer = new Peer({ maxResponseBytes: 10 });
  const pending = [1, 3, 5].map(() => peer.connection.request(request()));
  const failed = assert.rejects(pending[0]!, {
    code: "ResponseTooLarge",
    message: "the response is larger than 10 bytes. Request fewer objects",
  });
  await peer.firstFrame(FRAME.headers, 5);
  peer.send((out) => {
    for (const stream of [1, 3, 5]) out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
    out.frame(FRAME.data, 0, 1, bytes("0123456789"));
    out.frame(FRAME.data, 0, 1, bytes(""));
    out.frame(FRAME.data, FLAG.end, 3, bytes("0123456789"));
    out.frame(FRAME.data, FLAG.end, 5, bytes("0123456789a"));
  });
  assert.equal(await (await pending[1]!).text(), "0123456789");
  await assert.rejects(pending[2]!, { code: "ResponseTooLarge" });
  peer.send((out) => out.frame(FRAME.data, 0, 1, bytes("a")));
  await failed;
  assert.equal(uint32((await peer.firstFrame(FRAME.reset, 1)).payload, 0), CODE.cancel);
  assert(peer.connection.isOpen);
});

Deno.test("empty DATA frames are ignored", async () => {
  const peer = new Peer();
  const pending = [1, 3].map((n) => peer.connection.request(request({ streams: n === 3 })));
  await peer.firstFrame(FRAME.headers, 3);
  peer.send((out) => {
    for (const stream of [1, 3]) {
      out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
      for (let i = 0; i < 1000; i++) out.frame(FRAME.data, 0, stream, bytes(""));
      out.frame(FRAME.data, FLAG.end, stream, bytes("x"));
    }
  });
  assert.equal(await (await pending[0]!).text(), "x");
  assert.deepEqual(await (await pending[1]!).body!.getReader().read(), { done: false, value: bytes("x") });
});

Deno.test("a dynamic table size update in a header block is accepted", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 1);
  peer.send((out) => respond(out, 1, Uint8Array.of(0x20, 0x8d)));
  assert.equal((await pending).status, 404);
});

Deno.test("requests wait while the server allows no streams, and urgent ones are then sent first", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.concurrent, 0]]));
  await peer.sent(3);
  const pending = [false, true].map((isUrgent) => peer.connection.request(request({ isUrgent, path: `/${isUrgent}` })));
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  await peer.firstFrame(FRAME.ping, 0);
  assert(!peer.frames.some(({ type }) => type === FRAME.headers));
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  assert.match(text((await peer.firstFrame(FRAME.headers, 1)).payload), /\/true/);
  peer.send((out) => respond(out, 1));
  assert.equal((await pending[1]!).status, 200);
  assert.match(text((await peer.firstFrame(FRAME.headers, 3)).payload), /\/false/);
  peer.send((out) => respond(out, 3));
  assert.equal((await pending[0]!).status, 200);
});
