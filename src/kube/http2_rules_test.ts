import assert from "node:assert/strict";
import { answer, asking, bytes, goodbye, OK, peerOf } from "./_http2_peer.ts";
import { CODE, FLAG, four, FRAME, type FrameWriter, SETTING } from "./http2_frames.ts";

/** What no server may send, and what is said of it. Streams 1 and 3 are open. */
const BROKEN: Record<string, { readonly write: (out: FrameWriter) => void; readonly told: RegExp }> = {
  "a frame that is too long": {
    write: (out) => out.raw(Uint8Array.of(0, 0x40, 1, 0, 0, 0, 0, 0, 1)),
    told: /a frame has 16385 bytes/,
  },
  "headers that break off": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      out.frame(FRAME.data, 0, 1, bytes("x"));
    },
    told: /a header block breaks off/,
  },
  "headers that break off for others": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      out.frame(FRAME.continuation, 0, 3, OK);
    },
    told: /that did not begin/,
  },
  "headers that go on without a beginning": {
    write: (out) => out.frame(FRAME.continuation, 0, 1, OK),
    told: /that did not begin/,
  },
  "headers without end": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      for (let i = 0; i < 65; i++) out.frame(FRAME.continuation, 0, 1, new Uint8Array(16384));
    },
    told: /a header block is too long/,
  },
  "headers without end that never grow": {
    write: (out) => {
      out.frame(FRAME.headers, 0, 1, OK);
      for (let i = 0; i < 20_000; i++) out.frame(FRAME.continuation, 0, 1, bytes(""));
    },
    told: /a header block is too long/,
  },
  "headers of a table that we have not": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0xbe)),
    told: /there is no header 62/,
  },
  "what nobody asked for": {
    write: (out) => out.frame(FRAME.push, FLAG.endHeaders, 1, Uint8Array.of(0, 0, 0, 2, 0x82)),
    told: /it pushes what nobody asked for/,
  },
  "a body filled up beyond its length": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, FLAG.padded, 1, Uint8Array.of(2, 1));
    },
    told: /filled up beyond its length/,
  },
  "a body that has no room for how far it is filled up": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      out.frame(FRAME.data, FLAG.padded, 1, bytes(""));
    },
    told: /filled up beyond its length/,
  },
  "headers filled up beyond their length": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.padded, 1, Uint8Array.of(3, 0x88, 0)),
    told: /filled up beyond its length/,
  },
  "headers too short for the weight that they tell": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders | FLAG.priority, 1, Uint8Array.of(0, 0, 0, 0)),
    told: /filled up beyond its length/,
  },
  "a window of the connection that grows by nothing": {
    write: (out) => out.numbers(FRAME.window, 0, 0),
    told: /a window grows by nothing/,
  },
  "a window of the connection that is too large": {
    write: (out) => out.numbers(FRAME.window, 0, 2 ** 31 - 65_534),
    told: /a window is too large/,
  },
  "a first window that is too large": {
    write: (out) => out.settings([[SETTING.window, 2 ** 31]]),
    told: /a window is too large/,
  },
  "a first window that makes that of a stream too large": {
    write: (out) => {
      out.numbers(FRAME.window, 1, 2 ** 31 - 65_535);
      out.settings([[SETTING.window, 2 ** 31 - 1]]);
    },
    told: /a window is too large/,
  },
  "an answer beyond the window that it was given": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 3, OK);
      for (let i = 0; i < 257; i++) out.frame(FRAME.data, 0, 3, new Uint8Array(16384));
    },
    told: /an answer is sent on beyond its window/,
  },
  "an answer to what was not asked": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 5, OK),
    told: /nothing was asked as stream 5/,
  },
  "a body of an answer to what was not asked": {
    write: (out) => out.frame(FRAME.data, 0, 5, bytes("x")),
    told: /nothing was asked as stream 5/,
  },
  "an end of what was not asked": {
    write: (out) => out.numbers(FRAME.reset, 5, CODE.cancel),
    told: /nothing was asked as stream 5/,
  },
  "a window of what was not asked": {
    write: (out) => out.numbers(FRAME.window, 5, 1),
    told: /nothing was asked as stream 5/,
  },
  "an answer with a number of the server's": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 2, OK),
    told: /nothing was asked as stream 2/,
  },
  "an answer to nobody": {
    write: (out) => out.frame(FRAME.data, 0, 0, bytes("x")),
    told: /nothing was asked as stream 0/,
  },
  "an end of the connection that looks like a stream's": {
    write: (out) => out.numbers(FRAME.reset, 0, CODE.cancel),
    told: /nothing was asked as stream 0/,
  },
  "settings of a stream": {
    write: (out) => out.frame(FRAME.settings, 0, 1, bytes("")),
    told: /is meant for the connection is sent as stream 1/,
  },
  "a ping of a stream": {
    write: (out) => out.frame(FRAME.ping, 0, 1, bytes("12345678")),
    told: /is meant for the connection is sent as stream 1/,
  },
  "a goodbye of a stream": {
    write: (out) => out.frame(FRAME.goAway, 0, 1, bytes("12345678")),
    told: /is meant for the connection is sent as stream 1/,
  },
  "settings that are cut off": {
    write: (out) => out.frame(FRAME.settings, 0, 0, bytes("12345")),
    told: /settings have 5 bytes/,
  },
  "an answer to settings that says something": {
    write: (out) => out.frame(FRAME.settings, FLAG.ack, 0, bytes("123456")),
    told: /settings have 6 bytes/,
  },
  "a ping that is cut off": {
    write: (out) => out.frame(FRAME.ping, 0, 0, bytes("1234567")),
    told: /a ping has 7 bytes/,
  },
  "a goodbye that is cut off": {
    write: (out) => out.numbers(FRAME.goAway, 0, 1),
    told: /a goodbye has 4 bytes/,
  },
  "an update of a window that is cut off": {
    write: (out) => out.frame(FRAME.window, 0, 1, bytes("x")),
    told: /an update of a window has 1 bytes/,
  },
  "a reset that is too long": {
    write: (out) => out.frame(FRAME.reset, 0, 1, bytes("12345")),
    told: /a reset has 5 bytes/,
  },
};
for (const [name, { write, told }] of Object.entries(BROKEN)) {
  Deno.test(`a connection ends, and all that goes on over it, when a server breaks the rules: ${name}`, async () => {
    const peer = peerOf();
    // The second is not read.
    const answers = [peer.http2.request(asking({ body: "x" })), peer.http2.request(asking({ streams: true }))];
    await peer.got(FRAME.headers, 3);
    peer.send(write);
    const rule = /^Error: the server breaks the rules of HTTP\/2: /;
    for (const failing of answers) {
      const reading = failing.then((answer) => answer.text());
      await assert.rejects(reading, (error) => rule.test(String(error)) && told.test(String(error)));
    }
    assert.equal(peer.isClosed, true);
    await assert.rejects(peer.http2.request(asking()), /NotProcessedError: the server breaks the rules/);
  });
}

Deno.test("a connection ends when the server does not begin with its settings", async () => {
  const peer = peerOf({ greets: false });
  const failing = peer.http2.request(asking());
  peer.send((out) => out.frame(FRAME.ping, 0, 0, bytes("12345678")));
  await assert.rejects(failing, /it does not begin with its settings/);
});

Deno.test("a connection ends when the server begins with an acknowledgment of our settings", async () => {
  const peer = peerOf({ greets: false });
  const failing = peer.http2.request(asking());
  peer.send((out) => out.frame(FRAME.settings, FLAG.ack, 0, bytes("")));
  await assert.rejects(failing, /it does not begin with its settings/);
});

Deno.test("a few informational answers come before an answer, and the answer is taken", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking());
  await peer.got(FRAME.headers, 1);
  peer.send((out) => {
    for (let i = 0; i < 5; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("103")));
    answer(out, 1);
  });
  assert.equal((await asked).status, 200);
});

Deno.test("a connection over which nothing goes on ends when a first window is too large", async () => {
  const gone = Promise.withResolvers<void>();
  const peer = peerOf({ onGone: gone.resolve });
  peer.send((out) => out.settings([[SETTING.window, 2 ** 31]]));
  await gone.promise;
  await assert.rejects(peer.http2.request(asking()), /a window is too large/);
});

/** What no answer may be. Others go on. */
const REFUSED: Record<string, { write: (out: FrameWriter) => void; told: RegExp; code?: number }> = {
  "a body before a status": {
    write: (out) => out.frame(FRAME.data, 0, 1, bytes("x")),
    told: /an answer has a body before its status/,
  },
  "an end before a status": {
    write: (out) => answer(out, 1, bytes("")),
    told: /an answer has no status/,
  },
  "headers behind a body that are not its end": {
    write: (out) => {
      for (let i = 0; i < 2; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    },
    told: /an answer goes on behind its end/,
  },
  "an end that is told on the way": {
    write: (out) => answer(out, 1, Uint8Array.of(0x08, 3, ...bytes("103"))),
    told: /an answer has the status 103/,
  },
  "informational answers without end": {
    write: (out) => {
      for (let i = 0; i < 6; i++) out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("103")));
    },
    told: /too many of 1xx/,
  },
  "trailers with a status": {
    write: (out) => {
      out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
      answer(out, 1, OK);
    },
    told: /a second status at its end/,
  },
  "another protocol": {
    write: (out) => out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("101"))),
    told: /an answer has the status 101/,
  },
  "a window that grows by nothing": {
    write: (out) => out.numbers(FRAME.window, 1, 0),
    told: /a window grows by nothing/,
  },
  "a window that is too large": {
    write: (out) => out.numbers(FRAME.window, 1, 2 ** 31 - 1),
    told: /a window is too large/,
    code: CODE.flow,
  },
};
for (const [name, { write, told, code = CODE.protocol }] of Object.entries(REFUSED)) {
  Deno.test(`an answer is refused, and others go on, when a server breaks the rules for it: ${name}`, async () => {
    const peer = peerOf();
    const [broken, other] = [peer.http2.request(asking()), peer.http2.request(asking())];
    await peer.got(FRAME.headers, 3);
    peer.send(write);
    await assert.rejects(broken, told);
    assert.equal(four((await peer.got(FRAME.reset, 1)).payload, 0), code);
    peer.send((out) => answer(out, 3));
    assert.equal((await other).status, 200);
    assert(peer.http2.isOpen);
  });
}

Deno.test("what comes for a stream that is over is read over, and what belongs to the connection of it counts", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking());
  await peer.got(FRAME.headers, 1);
  peer.send((out) => answer(out, 1));
  await asked;
  peer.send((out) => {
    for (let i = 0; i < 1024; i++) out.frame(FRAME.data, 0, 1, new Uint8Array(16384));
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    out.numbers(FRAME.reset, 1, CODE.none);
    out.numbers(FRAME.window, 1, 0);
  });
  while (peer.frames.filter(({ type }) => type === FRAME.window).length < 2) await peer.sent(peer.frames.length + 1);
  const given = peer.frames.filter(({ type }) => type === FRAME.window).map(({ stream, payload }) => [
    stream,
    four(payload, 0),
  ]);
  assert.deepEqual(given, [[0, 2 ** 30 - 65_535], [0, 1024 * 16384]]);
});

Deno.test("a server that asks and asks, and takes no answer, does not fill our memory", async () => {
  for (const type of [FRAME.ping, FRAME.settings]) {
    const peer = peerOf();
    const asked = peer.http2.request(asking());
    await peer.got(FRAME.headers, 1);
    const flood = (out: FrameWriter): void => {
      for (let i = 0; i < 9000; i++) out.frame(type, 0, 0, bytes(type === FRAME.ping ? "12345678" : ""));
    };
    // One that takes the answers is answered, however often it asks.
    peer.send(flood);
    peer.send(flood);
    await peer.sent(3 + 18_000);
    peer.block();
    peer.send(flood);
    peer.send(flood);
    await assert.rejects(asked, /it asks for answers that it does not take/);
  }
});

Deno.test("a goodbye of a server that breaks the rules is told as well", async () => {
  const peer = peerOf();
  const asked = peer.http2.request(asking());
  await peer.got(FRAME.headers, 1);
  peer.send((out) => {
    goodbye(out, 1, CODE.protocol, "bad\x07 frame");
    out.frame(FRAME.ping, 0, 0, bytes(""));
  });
  await assert.rejects(asked, /a ping has 0 bytes; the server said PROTOCOL_ERROR \("bad {2}frame"\)$/);
});
