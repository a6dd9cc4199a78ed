import assert from "node:assert/strict";
import { bytes, goAway, OK, Peer, request, respond } from "./_peer.ts";
import { CODE, FLAG, FRAME, type FrameWriter, SETTING, uint32 } from "./frames.ts";

/** Violations that end the connection. Streams 1 and 3 are open. */
const BROKEN: Record<string, { readonly write: (out: FrameWriter) => void; readonly message: RegExp }> = {
  "a frame larger than 16 KiB": {
    write: (out) => out.raw(Uint8Array.of(0, 0x40, 1, 0, 0, 0, 0, 0, 1)),
    message: /a frame has 16385 bytes/,
  },
  "a header block that another frame interrupts": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      out.frame(FRAME.data, 0, 1, bytes("x"));
    },
    message: /another frame interrupts a header block/,
  },
  "CONTINUATION on another stream": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      out.frame(FRAME.continuation, 0, 3, OK);
    },
    message: /CONTINUATION without HEADERS/,
  },
  "CONTINUATION without HEADERS": {
    write: (out) => out.frame(FRAME.continuation, 0, 1, OK),
    message: /CONTINUATION without HEADERS/,
  },
  "a header block without end": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      for (let i = 0; i < 65; i++) out.frame(FRAME.continuation, 0, 1, new Uint8Array(16384));
    },
    message: /a header block is longer than 1048576 bytes/,
  },
  "a header block of empty frames without end": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      for (let i = 0; i < 20_000; i++) out.frame(FRAME.continuation, 0, 1, bytes(""));
    },
    message: /a header block is longer than 1048576 bytes/,
  },
  "a reference to the dynamic table": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0xbe)),
    message: /header 62 is not in the static table/,
  },
  "PUSH_PROMISE": {
    write: (out) => out.frame(FRAME.push, FLAG.endHeaders, 1, Uint8Array.of(0, 0, 0, 2, 0x82)),
    message: /PUSH_PROMISE was sent although push is disabled/,
  },
  "DATA with padding longer than the frame": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, FLAG.padded, 1, Uint8Array.of(2, 1));
    },
    message: /the padding of a frame is longer than the frame/,
  },
  "padded DATA without a padding length": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, FLAG.padded, 1, bytes(""));
    },
    message: /the padding of a frame is longer than the frame/,
  },
  "HEADERS with padding longer than the frame": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.padded, 1, Uint8Array.of(3, 0x88, 0)),
    message: /the padding of a frame is longer than the frame/,
  },
  "HEADERS too short for its priority": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, 1, Uint8Array.of(0, 0, 0, 0)),
    message: /the padding of a frame is longer than the frame/,
  },
  "WINDOW_UPDATE of the connection by 0": {
    write: (out) => out.numbers(FRAME.window, 0, 0),
    message: /WINDOW_UPDATE has an increment of 0/,
  },
  "a connection window above 2^31-1": {
    write: (out) => out.numbers(FRAME.window, 0, 2 ** 31 - 65_534),
    message: /a window is larger than 2147483647 bytes/,
  },
  "an initial window above 2^31-1": {
    write: (out) => out.settings([[SETTING.window, 2 ** 31]]),
    message: /a window is larger than 2147483647 bytes/,
  },
  "an initial window that makes the window of a stream too large": {
    write: (out) => {
      out.numbers(FRAME.window, 1, 2 ** 31 - 65_535);
      out.settings([[SETTING.window, 2 ** 31 - 1]]);
    },
    message: /a window is larger than 2147483647 bytes/,
  },
  "a response larger than its window": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 3, OK);
      for (let i = 0; i < 257; i++) out.frame(FRAME.data, 0, 3, new Uint8Array(16384));
    },
    message: /a response exceeds its window/,
  },
  "HEADERS on a stream that was not opened": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 5, OK),
    message: /stream 5, which the client has not opened/,
  },
  "DATA on a stream that was not opened": {
    write: (out) => out.frame(FRAME.data, 0, 5, bytes("x")),
    message: /stream 5, which the client has not opened/,
  },
  "RST_STREAM on a stream that was not opened": {
    write: (out) => out.numbers(FRAME.reset, 5, CODE.cancel),
    message: /stream 5, which the client has not opened/,
  },
  "WINDOW_UPDATE on a stream that was not opened": {
    write: (out) => out.numbers(FRAME.window, 5, 1),
    message: /stream 5, which the client has not opened/,
  },
  "HEADERS on an even stream": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 2, OK),
    message: /stream 2, which the client has not opened/,
  },
  "DATA on stream 0": {
    write: (out) => out.frame(FRAME.data, 0, 0, bytes("x")),
    message: /stream 0, which the client has not opened/,
  },
  "RST_STREAM on stream 0": {
    write: (out) => out.numbers(FRAME.reset, 0, CODE.cancel),
    message: /stream 0, which the client has not opened/,
  },
  "SETTINGS on a stream": {
    write: (out) => out.frame(FRAME.settings, 0, 1, bytes("")),
    message: /was sent on stream 1/,
  },
  "PING on a stream": {
    write: (out) => out.frame(FRAME.ping, 0, 1, bytes("12345678")),
    message: /was sent on stream 1/,
  },
  "GOAWAY on a stream": {
    write: (out) => out.frame(FRAME.goAway, 0, 1, bytes("12345678")),
    message: /was sent on stream 1/,
  },
  "SETTINGS with an incomplete setting": {
    write: (out) => out.frame(FRAME.settings, 0, 0, bytes("12345")),
    message: /SETTINGS has an invalid length of 5 bytes/,
  },
  "an acknowledgment of SETTINGS with a payload": {
    write: (out) => out.frame(FRAME.settings, FLAG.ack, 0, bytes("123456")),
    message: /SETTINGS has an invalid length of 6 bytes/,
  },
  "PING that is too short": {
    write: (out) => out.frame(FRAME.ping, 0, 0, bytes("1234567")),
    message: /PING has 7 bytes/,
  },
  "GOAWAY that is too short": {
    write: (out) => out.numbers(FRAME.goAway, 0, 1),
    message: /GOAWAY has 4 bytes/,
  },
  "WINDOW_UPDATE that is too short": {
    write: (out) => out.frame(FRAME.window, 0, 1, bytes("x")),
    message: /WINDOW_UPDATE has 1 bytes/,
  },
  "RST_STREAM that is too long": {
    write: (out) => out.frame(FRAME.reset, 0, 1, bytes("12345")),
    message: /RST_STREAM has 5 bytes/,
  },
};
for (const [name, { write, message }] of Object.entries(BROKEN)) {
  Deno.test(`the connection ends and its requests fail when the server sends ${name}`, async () => {
    const peer = new Peer();
    // The body of the second response is not read.
    const responses = [
      peer.connection.request(request({ body: "x" })),
      peer.connection.request(request({ streams: true })),
    ];
    await peer.got(FRAME.headers, 3);
    peer.send(write);
    for (const response of responses) {
      const reading = response.then((answer) => answer.text());
      await assert.rejects(reading, (error: Error & { code?: string }) => {
        return error.code === "Http2Protocol" && message.test(error.message);
      });
    }
    assert.equal(peer.isClosed, true);
    await assert.rejects(peer.connection.request(request()), { code: "NotProcessed" });
  });
}

Deno.test("the connection ends when the first frame of the server is not SETTINGS", async () => {
  const peer = new Peer({ sendsSettings: false });
  const pending = peer.connection.request(request());
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  await assert.rejects(pending, /the first frame is not SETTINGS/);
});

Deno.test("the connection ends when the first frame of the server is an acknowledgment of SETTINGS", async () => {
  const peer = new Peer({ sendsSettings: false });
  const pending = peer.connection.request(request());
  peer.send((out) => out.frame(FRAME.settings, FLAG.ack, 0, bytes("")));
  await assert.rejects(pending, /the first frame is not SETTINGS/);
});

Deno.test("five informational responses before a response are accepted", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.got(FRAME.headers, 1);
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
  await assert.rejects(peer.connection.request(request()), /a window is larger than 2147483647 bytes/);
});

/** Violations that reset one stream. */
const RESETS: Record<string, { write: (out: FrameWriter) => void; message: RegExp; code?: number }> = {
  "a body before the status": {
    write: (out) => out.frame(FRAME.data, 0, 1, bytes("x")),
    message: /a response has a body before its status/,
  },
  "the end of stream before the status": {
    write: (out) => respond(out, 1, bytes("")),
    message: /a response has no status/,
  },
  "headers after the body that do not end the stream": {
    write: (out) => {
      for (let i = 0; i < 2; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    },
    message: /headers after its body that do not end it/,
  },
  "an informational response that ends the stream": {
    write: (out) => respond(out, 1, Uint8Array.of(0x08, 3, ...bytes("103"))),
    message: /a response has the status 103/,
  },
  "six informational responses": {
    write: (out) => {
      for (let i = 0; i < 6; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("103")));
    },
    message: /more than 5 informational responses/,
  },
  "trailers with a status": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      respond(out, 1, OK);
    },
    message: /the trailers of a response have a status/,
  },
  "the status 101": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("101"))),
    message: /a response has the status 101/,
  },
  "WINDOW_UPDATE by 0": {
    write: (out) => out.numbers(FRAME.window, 1, 0),
    message: /WINDOW_UPDATE has an increment of 0/,
  },
  "a window above 2^31-1": {
    write: (out) => out.numbers(FRAME.window, 1, 2 ** 31 - 1),
    message: /a window is larger than 2147483647 bytes/,
    code: CODE.flow,
  },
};
for (const [name, { write, message, code = CODE.protocol }] of Object.entries(RESETS)) {
  Deno.test(`the stream is reset and other requests continue when the server sends ${name}`, async () => {
    const peer = new Peer();
    const [broken, other] = [peer.connection.request(request()), peer.connection.request(request())];
    await peer.got(FRAME.headers, 3);
    peer.send(write);
    await assert.rejects(broken, message);
    assert.equal(uint32((await peer.got(FRAME.reset, 1)).payload, 0), code);
    peer.send((out) => respond(out, 3));
    assert.equal((await other).status, 200);
    assert(peer.connection.isOpen);
  });
}

Deno.test("frames of a stream that has ended are ignored, but their data counts for the connection window", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.got(FRAME.headers, 1);
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

Deno.test("the connection ends when the server sends PING or SETTINGS without end and reads no acknowledgment", async () => {
  for (const type of [FRAME.ping, FRAME.settings]) {
    const peer = new Peer();
    const pending = peer.connection.request(request());
    await peer.got(FRAME.headers, 1);
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
    await assert.rejects(pending, /does not read 10000 acknowledgments/);
  }
});

Deno.test("the error of a violation quotes the reason of GOAWAY", async () => {
  const peer = new Peer();
  const pending = peer.connection.request(request());
  await peer.got(FRAME.headers, 1);
  peer.send((out) => {
    goAway(out, 1, CODE.protocol, "bad\x07 frame");
    out.frame(FRAME.ping, 0, 0, bytes(""));
  });
  await assert.rejects(pending, /PING has 0 bytes \(the server sent GOAWAY: PROTOCOL_ERROR \("bad {2}frame"\)\)$/);
});
