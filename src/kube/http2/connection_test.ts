import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import type { WireResponse } from "../response.ts";
import { bytes, OK, Peer, request, text } from "./_peer.ts";
import { CODE, FLAG, FRAME, type FrameWriter, SETTING, uint32 } from "./frames.ts";

Deno.test("Http2Connection sends its settings and a request, acknowledges the server's settings, and returns the response", async () => {
  const peer = new Peer();
  const response = peer.connection.request(request({ body: `{"a":1}` }));
  const sent = await peer.sent(4);
  assert.deepEqual(sent.map(({ type }) => type), [FRAME.settings, FRAME.window, FRAME.headers, FRAME.data]);
  assert.equal(text(sent[3]!.payload), `{"a":1}`);
  peer.send((out) => {
    out.settings([[SETTING.concurrent, 100]]);
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    out.frame(FRAME.data, FLAG.end, 1, bytes(`{"b":2}`));
  });
  assert.deepEqual(await (await response).json(), { b: 2 });
  assert.deepEqual((await peer.sent(5)).at(-1), {
    type: FRAME.settings,
    flags: FLAG.ack,
    stream: 0,
    payload: bytes(""),
  });
});

Deno.test("Http2Connection reads a response regardless of how it is split into frames", async (t) => {
  const CASES: Record<string, (out: FrameWriter) => void> = {
    "headers and data in several frames": (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      out.frame(FRAME.continuation, 0, 1, Uint8Array.of(0x5f, 1, 120));
      out.frame(FRAME.continuation, FLAG.endHeaders, 1, Uint8Array.of(0x5f, 1, 121));
      for (const part of ['"', "aä".repeat(10)]) out.frame(FRAME.data, 0, 1, bytes(part));
      out.frame(FRAME.data, FLAG.end, 1, bytes('"'));
    },
    "padding and priority": (out) => {
      out.frame(
        FRAME.headers,
        FLAG.endHeaders | FLAG.padded | FLAG.priority,
        1,
        Uint8Array.of(2, 0, 0, 0, 0, 1, 0x88, 0, 0),
      );
      const content = bytes(`"${"aä".repeat(10)}"`);
      out.frame(FRAME.data, FLAG.end | FLAG.padded, 1, Uint8Array.of(3, ...content, 0, 0, 0));
    },
    "an informational response before it, and trailers": (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, 49, 48, 51));
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, 0, 1, bytes(`"${"aä".repeat(10)}"`));
      out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, Uint8Array.of(0x40, 1, 97, 1, 98));
    },
    "unknown frames and settings": (out) => {
      out.frame(42, 255, 1, bytes("?"));
      out.settings([[99, 7]]);
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, FLAG.end, 1, bytes(`"${"aä".repeat(10)}"`));
    },
  };
  for (const [name, write] of Object.entries(CASES)) {
    for (const size of [1, 7, 1000]) {
      await t.step(`${name}, ${size} bytes at a time`, async () => {
        const peer = new Peer();
        const response = peer.connection.request(request());
        peer.send(write, size);
        assert.equal(await (await response).json(), "aä".repeat(10));
        peer.connection.close();
      });
    }
  }
});

Deno.test("Http2Connection sends a request body as far as the stream window allows", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.window, 10]]));
  await peer.sent(3);
  const response = peer.connection.request(request({ body: "0123456789abcdef" }));
  const first = (await peer.sent(5)).at(-1)!;
  assert.deepEqual([text(first.payload), first.flags], ["0123456789", 0]);
  peer.send((out) => out.numbers(FRAME.window, 1, 6));
  const second = (await peer.sent(6)).at(-1)!;
  assert.deepEqual([text(second.payload), second.flags], ["abcdef", FLAG.end]);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK));
  assert.equal(await (await response).text(), "");
});

Deno.test("Http2Connection queues requests beyond the server's stream limit, and does not send aborted ones", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  await peer.sent(3);
  const stop = new AbortController();
  const responses = [1, 2, 3].map((n) => peer.connection.request(request({ signal: n === 2 ? stop.signal : null })));
  await peer.sent(4);
  stop.abort("enough");
  await assert.rejects(responses[1]!, (reason) => reason === "enough");
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK));
  await responses[0];
  assert.equal((await peer.sent(5)).at(-1)!.stream, 3);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 3, OK));
  assert.equal((await responses[2]!).status, 200);
});

Deno.test("Http2Connection sends an urgent request before queued ones", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.concurrent, 3]]));
  await peer.sent(3);
  const responses = [1, 2].map(() => peer.connection.request(request()));
  const urgent = peer.connection.request(request({ isUrgent: true }));
  assert.deepEqual((await peer.sent(5)).slice(3).map(({ stream }) => stream), [1, 3]);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 3, OK));
  assert.equal((await urgent).status, 200);
  for (const stream of [1, 5]) peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, stream, OK));
  for (const response of responses) assert.equal((await response).status, 200);
});

Deno.test("Http2Connection pings a silent server, and fails its requests when there is no response", async () => {
  const clock = new VirtualClock();
  const peer = new Peer({ clock });
  const response = peer.connection.request(request());
  const failed = assert.rejects(
    response,
    { code: "Unanswered", message: "the connection is dead: no bytes and no response to a PING for 8.25 s" },
  );
  await peer.sent(3);
  const advance = (seconds: number) => {
    for (const end = clock.now() + seconds * 1000; clock.step(end););
  };
  advance(4);
  const ping = (await peer.sent(4)).at(-1)!;
  assert.deepEqual([ping.type, ping.flags, ping.stream, ping.payload.length], [FRAME.ping, 0, 0, 8]);
  peer.send((out) => out.frame(FRAME.ping, FLAG.ack, 0, ping.payload));
  // Any frame proves that the server is alive.
  peer.send((out) => out.settings([]));
  await peer.sent(5);
  advance(4.25);
  assert.equal(peer.isClosed, false);
  assert.equal((await peer.sent(6)).at(-1)!.type, FRAME.ping);
  advance(4.25);
  await failed;
  assert(peer.isClosed);
});

Deno.test("Http2Connection does not ping while no request is pending", async () => {
  const clock = new VirtualClock();
  const peer = new Peer({ clock });
  const response = peer.connection.request(request());
  await peer.sent(3);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK));
  await response;
  while (clock.step(clock.now() + 60_000));
  assert.equal(clock.nextDue, undefined);
  assert.equal(peer.frames.length, 3);
  assert.equal(peer.connection.isOpen, true);
});

Deno.test("Http2Connection resets the stream of an aborted request, and other requests continue", async () => {
  const peer = new Peer();
  const stop = new AbortController();
  const responses = [peer.connection.request(request({ signal: stop.signal })), peer.connection.request(request())];
  await peer.sent(4);
  stop.abort("enough");
  await assert.rejects(responses[0]!, (reason) => reason === "enough");
  const reset = (await peer.sent(5)).at(-1)!;
  assert.deepEqual([reset.type, reset.stream, uint32(reset.payload, 0)], [FRAME.reset, 1, CODE.cancel]);
  peer.send((out) => {
    // The response was already on its way.
    out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK);
    out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 3, OK);
  });
  assert.equal((await responses[1]!).status, 200);
});

Deno.test("Http2Connection acknowledges a PING", async () => {
  const peer = new Peer();
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  const pong = (await peer.sent(3)).at(-1)!;
  assert.deepEqual([pong.type, pong.flags, text(pong.payload)], [FRAME.ping, FLAG.ack, "12345678"]);
});

Deno.test("Http2Connection enlarges the window of a stream only by the bytes that were read", async () => {
  const peer = new Peer();
  const response = peer.connection.request(request({ streams: true }));
  const piece = new Uint8Array(16384);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    for (let i = 0; i < 130; i++) out.frame(FRAME.data, 0, 1, piece);
  });
  const reader = (await response).body!.getReader();
  let read = 0;
  for (; read < 130 * piece.length; read += (await reader.read()).value!.length);
  const update = await peer.firstFrame(FRAME.window, 1);
  assert(uint32(update.payload, 0) >= 1 << 21 && uint32(update.payload, 0) <= read);
  const before = peer.frames.length;
  await reader.cancel("enough");
  const reset = (await peer.sent(before + 1)).at(-1)!;
  assert.deepEqual([reset.type, uint32(reset.payload, 0)], [FRAME.reset, CODE.cancel]);
  assert.deepEqual(await reader.read(), { done: true });
});

Deno.test("Http2Connection fails pending requests and streamed bodies when the server closes the connection", async () => {
  const peer = new Peer();
  const [streamed, whole] = [peer.connection.request(request({ streams: true })), peer.connection.request(request())];
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, OK));
  const reader = (await streamed).body!.getReader();
  peer.end();
  await assert.rejects(reader.read(), { code: "Unanswered", message: "the server closed the connection" });
  await assert.rejects(whole, { code: "Unanswered", message: "the server closed the connection" });
});

Deno.test("Http2Connection returns the body of a streamed response as text", async () => {
  const peer = new Peer();
  const pending: Promise<WireResponse> = peer.connection.request(request({ streams: true }));
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x8d));
    out.frame(FRAME.data, 0, 1, bytes("no"));
    out.frame(FRAME.data, FLAG.end, 1, bytes("thing"));
  });
  const response = await pending;
  assert.deepEqual([response.ok, response.status, await response.text()], [false, 404, "nothing"]);
});
