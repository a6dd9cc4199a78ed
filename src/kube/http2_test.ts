import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import type { Answer } from "./answer.ts";
import { asking, bytes, OK, peerOf, text } from "./_http2_peer.ts";
import { CODE, FLAG, four, FRAME, type FrameWriter, SETTING } from "./http2_frames.ts";

Deno.test("a request is answered over a connection, and both sides' settings are told", async () => {
  const peer = peerOf();
  const answer = peer.http2.request(asking({ body: `{"a":1}` }));
  const sent = await peer.sent(4);
  assert.deepEqual(sent.map(({ type }) => type), [FRAME.settings, FRAME.window, FRAME.headers, FRAME.data]);
  assert.equal(text(sent[3]!.payload), `{"a":1}`);
  peer.send((out) => {
    out.settings([[SETTING.concurrent, 100]]);
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    out.frame(FRAME.data, FLAG.end, 1, bytes(`{"b":2}`));
  });
  assert.deepEqual(await (await answer).json(), { b: 2 });
  assert.deepEqual((await peer.sent(5)).at(-1), {
    type: FRAME.settings,
    flags: FLAG.ack,
    stream: 0,
    payload: bytes(""),
  });
});

Deno.test("an answer is read whatever frames it comes in", async (t) => {
  const CASES: Record<string, (out: FrameWriter) => void> = {
    "headers over several frames, data over several": (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      out.frame(FRAME.continuation, 0, 1, Uint8Array.of(0x5f, 1, 120));
      out.frame(FRAME.continuation, FLAG.endHeaders, 1, Uint8Array.of(0x5f, 1, 121));
      for (const part of ['"', "aä".repeat(10)]) out.frame(FRAME.data, 0, 1, bytes(part));
      out.frame(FRAME.data, FLAG.end, 1, bytes('"'));
    },
    "filled up": (out) => {
      out.frame(
        FRAME.headers,
        FLAG.endHeaders | FLAG.padded | FLAG.priority,
        1,
        Uint8Array.of(2, 0, 0, 0, 0, 1, 0x88, 0, 0),
      );
      const content = bytes(`"${"aä".repeat(10)}"`);
      out.frame(FRAME.data, FLAG.end | FLAG.padded, 1, Uint8Array.of(3, ...content, 0, 0, 0));
    },
    "something told on the way, trailers at the end": (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, 49, 48, 51));
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, 0, 1, bytes(`"${"aä".repeat(10)}"`));
      out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, Uint8Array.of(0x40, 1, 97, 1, 98));
    },
    "frames that nobody knows, and settings of others": (out) => {
      out.frame(42, 255, 1, bytes("?"));
      out.settings([[99, 7]]);
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, FLAG.end, 1, bytes(`"${"aä".repeat(10)}"`));
    },
  };
  for (const [name, write] of Object.entries(CASES)) {
    for (const size of [1, 7, 1000]) {
      await t.step(`${name}, ${size} bytes at a time`, async () => {
        const peer = peerOf();
        const answer = peer.http2.request(asking());
        peer.send(write, size);
        assert.equal(await (await answer).json(), "aä".repeat(10));
        peer.http2.close();
      });
    }
  }
});

Deno.test("a body is sent as far as the server takes it", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.window, 10]]));
  await peer.sent(3);
  const answer = peer.http2.request(asking({ body: "0123456789abcdef" }));
  const first = (await peer.sent(5)).at(-1)!;
  assert.deepEqual([text(first.payload), first.flags], ["0123456789", 0]);
  peer.send((out) => out.numbers(FRAME.window, 1, 6));
  const second = (await peer.sent(6)).at(-1)!;
  assert.deepEqual([text(second.payload), second.flags], ["abcdef", FLAG.end]);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK));
  assert.equal(await (await answer).text(), "");
});

Deno.test("what the server does not take at once waits, and no longer than its signal allows", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  await peer.sent(3);
  const stop = new AbortController();
  const answers = [1, 2, 3].map((n) => peer.http2.request(asking({ signal: n === 2 ? stop.signal : null })));
  await peer.sent(4);
  stop.abort("enough");
  await assert.rejects(answers[1]!, (reason) => reason === "enough");
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK));
  await answers[0];
  assert.equal((await peer.sent(5)).at(-1)!.stream, 3);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 3, OK));
  assert.equal((await answers[2]!).status, 200);
});

Deno.test("what may not wait goes before what waits", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.concurrent, 3]]));
  await peer.sent(3);
  const answers = [1, 2].map(() => peer.http2.request(asking()));
  const urgent = peer.http2.request(asking({ isUrgent: true }));
  assert.deepEqual((await peer.sent(5)).slice(3).map(({ stream }) => stream), [1, 3]);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 3, OK));
  assert.equal((await urgent).status, 200);
  for (const stream of [1, 5]) peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, stream, OK));
  for (const answer of answers) assert.equal((await answer).status, 200);
});

Deno.test("a connection that is silent is asked, and given up where nobody answers", async () => {
  const clock = new VirtualClock();
  const peer = peerOf({ clock });
  const answer = peer.http2.request(asking());
  const failed = assert.rejects(
    answer,
    /^UnansweredError: the connection is dead: nothing came for 8\.25 s, not even the answer to/,
  );
  await peer.sent(3);
  const until = (seconds: number) => {
    for (const end = clock.now() + seconds * 1000; clock.step(end););
  };
  until(4);
  const ping = (await peer.sent(4)).at(-1)!;
  assert.deepEqual([ping.type, ping.flags, ping.stream, ping.payload.length], [FRAME.ping, 0, 0, 8]);
  peer.send((out) => out.frame(FRAME.ping, FLAG.ack, 0, ping.payload));
  // Anything that comes says that somebody is there.
  peer.send((out) => out.settings([]));
  await peer.sent(5);
  until(4.25);
  assert.equal(peer.isClosed, false);
  assert.equal((await peer.sent(6)).at(-1)!.type, FRAME.ping);
  until(4.25);
  await failed;
  assert(peer.isClosed);
});

Deno.test("a connection over which nothing goes on is left alone", async () => {
  const clock = new VirtualClock();
  const peer = peerOf({ clock });
  const answer = peer.http2.request(asking());
  await peer.sent(3);
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK));
  await answer;
  while (clock.step(clock.now() + 60_000));
  assert.equal(clock.nextDue, undefined);
  assert.equal(peer.frames.length, 3);
  assert.equal(peer.http2.isOpen, true);
});

Deno.test("a request that is given up is taken back, and others go on", async () => {
  const peer = peerOf();
  const stop = new AbortController();
  const answers = [peer.http2.request(asking({ signal: stop.signal })), peer.http2.request(asking())];
  await peer.sent(4);
  stop.abort("enough");
  await assert.rejects(answers[0]!, (reason) => reason === "enough");
  const reset = (await peer.sent(5)).at(-1)!;
  assert.deepEqual([reset.type, reset.stream, four(reset.payload, 0)], [FRAME.reset, 1, CODE.cancel]);
  peer.send((out) => {
    // It was on its way already.
    out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 1, OK);
    out.frame(FRAME.headers, FLAG.endHeaders | FLAG.end, 3, OK);
  });
  assert.equal((await answers[1]!).status, 200);
});

Deno.test("a ping is answered", async () => {
  const peer = peerOf();
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  const pong = (await peer.sent(3)).at(-1)!;
  assert.deepEqual([pong.type, pong.flags, text(pong.payload)], [FRAME.ping, FLAG.ack, "12345678"]);
});

Deno.test("a stream that is read slowly is not sent on beyond its window, and one that is read is", async () => {
  const peer = peerOf();
  const answer = peer.http2.request(asking({ streams: true }));
  const piece = new Uint8Array(16384);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    for (let i = 0; i < 130; i++) out.frame(FRAME.data, 0, 1, piece);
  });
  const reader = (await answer).body!.getReader();
  for (let i = 0; i < 127; i++) await reader.read();
  const before = peer.frames.length;
  await reader.read();
  const update = (await peer.sent(before + 1)).at(-1)!;
  assert.deepEqual([update.type, update.stream, four(update.payload, 0)], [FRAME.window, 1, 128 * 16384]);
  await reader.cancel("enough");
  const reset = (await peer.sent(before + 2)).at(-1)!;
  assert.deepEqual([reset.type, four(reset.payload, 0)], [FRAME.reset, CODE.cancel]);
  assert.deepEqual(await reader.read(), { done: true });
});

Deno.test("a connection that closes ends all that goes on over it, a stream among them", async () => {
  const peer = peerOf();
  const [streamed, whole] = [peer.http2.request(asking({ streams: true })), peer.http2.request(asking())];
  peer.send((out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, OK));
  const reader = (await streamed).body!.getReader();
  peer.end();
  await assert.rejects(reader.read(), /closed by the server/);
  await assert.rejects(whole, /closed by the server/);
});

Deno.test("an error that is asked for as a stream is read as text", async () => {
  const peer = peerOf();
  const asked: Promise<Answer> = peer.http2.request(asking({ streams: true }));
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x8d));
    out.frame(FRAME.data, 0, 1, bytes("no"));
    out.frame(FRAME.data, FLAG.end, 1, bytes("thing"));
  });
  const answer = await asked;
  assert.deepEqual([answer.ok, answer.status, await answer.text()], [false, 404, "nothing"]);
});
