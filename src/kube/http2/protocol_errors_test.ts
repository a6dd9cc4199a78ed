import assert from "node:assert/strict";
import { assertGolden } from "../../../tests/fixtures/golden.ts";
import { bytes, goAway, OK, Peer, request, respond } from "./_peer.ts";
import { CODE, FLAG, FRAME, type FrameWriter, SETTING, uint32 } from "./frames.ts";

/** The messages of all violations, by what the server sends. */
const messages = new Map<string, string>();

/** Violations that end the connection. Streams 1 and 3 are open. */
const BROKEN: Record<string, (out: FrameWriter) => void> = {
  "a frame larger than 16 KiB": (out) => out.raw(Uint8Array.of(0, 0x40, 1, 0, 0, 0, 0, 0, 1)),
  "a header block that another frame interrupts": (out) => {
    out.frame(FRAME.headers, 0, 1, OK);
    out.frame(FRAME.data, 0, 1, bytes("x"));
  },
  "CONTINUATION on another stream": (out) => {
    out.frame(FRAME.headers, 0, 1, OK);
    out.frame(FRAME.continuation, 0, 3, OK);
  },
  "CONTINUATION without HEADERS": (out) => out.frame(FRAME.continuation, 0, 1, OK),
  "a header block without end": (out) => {
    out.frame(FRAME.headers, 0, 1, OK);
    for (let i = 0; i < 65; i++) out.frame(FRAME.continuation, 0, 1, new Uint8Array(16384));
  },
  "a header block of empty frames without end": (out) => {
    out.frame(FRAME.headers, 0, 1, OK);
    for (let i = 0; i < 20_000; i++) out.frame(FRAME.continuation, 0, 1, bytes(""));
  },
  "a reference to the dynamic table": (out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0xbe)),
  "PUSH_PROMISE": (out) => out.frame(FRAME.push, FLAG.endHeaders, 1, Uint8Array.of(0, 0, 0, 2, 0x82)),
  "DATA with padding longer than the frame": (out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    out.frame(FRAME.data, FLAG.padded, 1, Uint8Array.of(2, 1));
  },
  "padded DATA without a padding length": (out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    out.frame(FRAME.data, FLAG.padded, 1, bytes(""));
  },
  "HEADERS with padding longer than the frame": (out) =>
    out.frame(FRAME.headers, FLAG.endHeaders | FLAG.padded, 1, Uint8Array.of(3, 0x88, 0)),
  "HEADERS too short for its priority": (out) =>
    out.frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, 1, Uint8Array.of(0, 0, 0, 0)),
  "WINDOW_UPDATE of the connection by 0": (out) => out.numbers(FRAME.window, 0, 0),
  "a connection window above 2^31-1": (out) => out.numbers(FRAME.window, 0, 2 ** 31 - 65_534),
  "an initial window above 2^31-1": (out) => out.settings([[SETTING.window, 2 ** 31]]),
  "an initial window that makes the window of a stream too large": (out) => {
    out.numbers(FRAME.window, 1, 2 ** 31 - 65_535);
    out.settings([[SETTING.window, 2 ** 31 - 1]]);
  },
  "a response larger than its window": (out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 3, OK);
    for (let i = 0; i < 257; i++) out.frame(FRAME.data, 0, 3, new Uint8Array(16384));
  },
  "HEADERS on a stream that was not opened": (out) => out.frame(FRAME.headers, FLAG.endHeaders, 5, OK),
  "DATA on a stream that was not opened": (out) => out.frame(FRAME.data, 0, 5, bytes("x")),
  "RST_STREAM on a stream that was not opened": (out) => out.numbers(FRAME.reset, 5, CODE.cancel),
  "WINDOW_UPDATE on a stream that was not opened": (out) => out.numbers(FRAME.window, 5, 1),
  "HEADERS on an even stream": (out) => out.frame(FRAME.headers, FLAG.endHeaders, 2, OK),
  "DATA on stream 0": (out) => out.frame(FRAME.data, 0, 0, bytes("x")),
  "RST_STREAM on stream 0": (out) => out.numbers(FRAME.reset, 0, CODE.cancel),
  "SETTINGS on a stream": (out) => out.frame(FRAME.settings, 0, 1, bytes("")),
  "PING on a stream": (out) => out.frame(FRAME.ping, 0, 1, bytes("12345678")),
  "GOAWAY on a stream": (out) => out.frame(FRAME.goAway, 0, 1, bytes("12345678")),
  "SETTINGS with an incomplete setting": (out) => out.frame(FRAME.settings, 0, 0, bytes("12345")),
  "an acknowledgment of SETTINGS with a payload": (out) => out.frame(FRAME.settings, FLAG.ack, 0, bytes("123456")),
  "PING that is too short": (out) => out.frame(FRAME.ping, 0, 0, bytes("1234567")),
  "GOAWAY that is too short": (out) => out.numbers(FRAME.goAway, 0, 1),
  "WINDOW_UPDATE that is too short": (out) => out.frame(FRAME.window, 0, 1, bytes("x")),
  "RST_STREAM that is too long": (out) => out.frame(FRAME.reset, 0, 1, bytes("12345")),
};
for (const [name, write] of Object.entries(BROKEN)) {
  Deno.test(`the connection ends and its requests fail when the server sends ${name}`, async () => {
    const peer = new Peer();
    // The body of the second response is not read.
    const pending = [
      peer.connection.request(request({ body: "x" })),
      peer.connection.request(request({ streams: true })),
    ];
    await peer.firstFrame(FRAME.headers, 3);
    peer.send(write);
    for (const request of pending) {
      const error = await request.then((response) => response.text()).catch((error) => error);
      assert.equal(error.code, "Http2Protocol");
      messages.set(`The server sends ${name}`, error.message);
    }
    assert.equal(peer.isClosed, true);
    await assert.rejects(peer.connection.request(request()), { code: "NotProcessed" });
  });
}

Deno.test("the connection ends when the first frame of the server is not SETTINGS", async () => {
  const peer = new Peer({ sendsSettings: false });
  const pending = peer.connection.request(request());
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  await assert.rejects(pending, { code: "Http2Protocol" });
});

Deno.test("the connection ends when the first frame of the server is an acknowledgment of SETTINGS", async () => {
  const peer = new Peer({ sendsSettings: false });
  const pending = peer.connection.request(request());
  peer.send((out) => out.frame(FRAME.settings, FLAG.ack, 0, bytes("")));
  await assert.rejects(pending, { code: "Http2Protocol" });
});

Deno.test("five informational responses before a response are accepted", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 1);
  peer.send((out) => {
    for (let i = 0; i < 5; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("103")));
    respond(out, 1);
  });
  assert.equal((await pending).status, 200);
});

Deno.test("an idle connection ends when the server sets an initial window above 2^31-1", async () => {
  const ended = Promise.withResolvers<void>();
  const peer = new Peer({ onEnd: ended.resolve });
  peer.send((out) => out.settings([[SETTING.window, 2 ** 31]]));
  await ended.promise;
  await assert.rejects(peer.connection.request(request()), { code: "NotProcessed" });
});

/** Violations that reset one stream. */
const RESETS: Record<string, { write: (out: FrameWriter) => void; code?: number }> = {
  "a body before the status": {
    write: (out) => out.frame(FRAME.data, 0, 1, bytes("x")),
  },
  "the end of stream before the status": {
    write: (out) => respond(out, 1, bytes("")),
  },
  "headers after the body that do not end the stream": {
    write: (out) => {
      for (let i = 0; i < 2; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    },
  },
  "an informational response that ends the stream": {
    write: (out) => respond(out, 1, Uint8Array.of(0x08, 3, ...bytes("103"))),
  },
  "six informational responses": {
    write: (out) => {
      for (let i = 0; i < 6; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("103")));
    },
  },
  "trailers with a status": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      respond(out, 1, OK);
    },
  },
  "the status 101": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("101"))),
  },
  "WINDOW_UPDATE by 0": {
    write: (out) => out.numbers(FRAME.window, 1, 0),
  },
  "a window above 2^31-1": {
    write: (out) => out.numbers(FRAME.window, 1, 2 ** 31 - 1),
    code: CODE.flow,
  },
};
for (const [name, { write, code = CODE.protocol }] of Object.entries(RESETS)) {
  Deno.test(`the stream is reset and other requests continue when the server sends ${name}`, async () => {
    const peer = new Peer();
    const [broken, other] = [peer.connection.request(request()), peer.connection.request(request())];
    await peer.firstFrame(FRAME.headers, 3);
    peer.send(write);
    const error = await broken.catch((error) => error);
    assert.equal(error.code, "Http2Protocol");
    messages.set(`The server sends ${name} on a stream`, error.message);
    assert.equal(uint32((await peer.firstFrame(FRAME.reset, 1)).payload, 0), code);
    peer.send((out) => respond(out, 3));
    assert.equal((await other).status, 200);
    assert(peer.connection.isOpen);
  });
}

Deno.test("frames of a stream that has ended are ignored, but their data counts for the connection window", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 1);
  peer.send((out) => respond(out, 1));
  await pending;
  peer.send((out) => {
    for (let i = 0; i < 1024; i++) out.frame(FRAME.data, 0, 1, new Uint8Array(16384));
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    out.numbers(FRAME.reset, 1, CODE.none);
    out.numbers(FRAME.window, 1, 0);
  });
  while (peer.frames.filter(({ type }) => type === FRAME.window).length < 2) await peer.sent(peer.frames.length + 1);
  const given = peer.frames.filter(({ type }) => type === FRAME.window).map(({ stream, payload }) => [
    stream,
    uint32(payload, 0),
  ]);
  assert.deepEqual(given, [[0, 2 ** 30 - 65_535], [0, 1024 * 16384]]);
});

Deno.test("the connection ends when the server sends endless PING or SETTINGS frames and reads no acknowledgments", async () => {
  for (const type of [FRAME.ping, FRAME.settings]) {
    const peer = new Peer();
    const pending = peer.connection.request(request());
    await peer.firstFrame(FRAME.headers, 1);
    const flood = (out: FrameWriter): void => {
      for (let i = 0; i < 9000; i++) out.frame(type, 0, 0, bytes(type === FRAME.ping ? "12345678" : ""));
    };
    // While the server reads, there is no limit.
    peer.send(flood);
    peer.send(flood);
    await peer.sent(3 + 18_000);
    peer.block();
    peer.send(flood);
    peer.send(flood);
    await assert.rejects(pending, { code: "Http2Protocol" });
  }
});

Deno.test("the error for a violation quotes the reason of GOAWAY", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 1);
  peer.send((out) => {
    goAway(out, 1, CODE.protocol, "bad\x07 frame");
    out.frame(FRAME.ping, 0, 0, bytes(""));
  });
  await assert.rejects(pending, / \(the server sent GOAWAY: PROTOCOL_ERROR \("bad {2}frame"\)\)$/);
});

Deno.test("the messages of violations are those of tests/golden/http2_errors.txt", async () => {
  const count = Object.keys(BROKEN).length + Object.keys(RESETS).length;
  assert.equal(messages.size, count, "this test needs the results of the tests above");
  await assertGolden("http2_errors.txt", [...messages].map(([name, message]) => `${name}\n  ${message}\n`).join("\n"));
});
