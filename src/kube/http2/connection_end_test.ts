import assert from "node:assert/strict";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { bytes, goAway, OK, Peer, request, respond } from "./_peer.ts";
import { NotProcessedError, UnansweredError } from "./errors.ts";
import { CODE, FLAG, FRAME, SETTING, uint32 } from "./frames.ts";

Deno.test("after GOAWAY, Http2Connection finishes the requests that the server processes and rejects the others as not processed", async () => {
  const peer = new Peer();
  const responses = [peer.connection.request(request()), peer.connection.request(request())];
  await peer.firstFrame(FRAME.headers, 3);
  peer.send((out) => goAway(out, 1, CODE.none));
  await assert.rejects(responses[1]!, NotProcessedError);
  assert.equal(peer.connection.isOpen, false);
  await assert.rejects(peer.connection.request(request()), {
    name: "NotProcessedError",
    message: "the server accepts no further requests on this connection (the server sent GOAWAY: NO_ERROR)",
  });
  assert.equal(peer.isClosed, false);
  peer.send((out) => respond(out, 1));
  assert.equal((await responses[0]!).status, 200);
  assert.equal(peer.isClosed, true);
  await assert.rejects(peer.connection.request(request()), NotProcessedError);
});

Deno.test("of two GOAWAY frames, the second one determines which requests are not processed", async () => {
  const peer = new Peer();
  const pending = [1, 3, 5].map((n) =>
    peer.connection.request(request({ method: "POST", streams: n === 1, body: "" }))
  );
  await peer.firstFrame(FRAME.headers, 5);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    goAway(out, 2 ** 31 - 1, CODE.none);
  });
  const reader = (await pending[0]!).body!.getReader();
  assert.equal(peer.connection.isOpen, false);
  await assert.rejects(peer.connection.request(request()), NotProcessedError);
  peer.send((out) => goAway(out, 3, CODE.none));
  await assert.rejects(pending[2]!, NotProcessedError);
  peer.send((out) => {
    out.frame(FRAME.data, 0, 1, bytes("x"));
    respond(out, 3);
  });
  assert.equal((await pending[1]!).status, 200);
  assert.deepEqual((await reader.read()).value, bytes("x"));
  assert.equal(peer.isClosed, false);
  peer.send((out) => out.frame(FRAME.data, FLAG.end, 1, bytes("")));
  assert.equal((await reader.read()).done, true);
  assert.equal(peer.isClosed, true);
});

Deno.test("queued requests are rejected as not processed when the connection ends for any reason", async () => {
  for (const cause of ["GOAWAY", "end", "error", "silence"]) {
    const clock = new VirtualClock();
    const peer = new Peer({ clock });
    peer.send((out) => out.settings([[SETTING.concurrent, 3]]));
    await peer.sent(3);
    const post = request({ method: "POST", body: "x" });
    const sent = peer.connection.request(post);
    const queued = [1, 2].map(() => peer.connection.request(post));
    const rejected = queued.map((each) => assert.rejects(each, NotProcessedError, cause));
    await peer.firstFrame(FRAME.data, 1);
    const unanswered = cause === "GOAWAY" ? undefined : assert.rejects(sent, UnansweredError, cause);
    if (cause === "GOAWAY") peer.send((out) => goAway(out, 2 ** 31 - 1, CODE.none));
    if (cause === "end") peer.end();
    if (cause === "error") peer.end(new Deno.errors.ConnectionReset("connection reset by peer"));
    if (cause === "silence") { while (clock.step(clock.now() + 10_000)); }
    await Promise.all(rejected);
    await unanswered;
    if (cause === "GOAWAY") peer.send((out) => respond(out, 1));
    if (cause === "GOAWAY") assert.equal((await sent).status, 200);
    assert.equal(peer.frames.filter(({ type }) => type === FRAME.headers).length, 1);
  }
});

Deno.test("a request that waits because the server allows no streams is rejected as not processed when the connection ends", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.concurrent, 0]]));
  await peer.sent(3);
  const rejected = assert.rejects(peer.connection.request(request()), NotProcessedError);
  peer.end();
  await rejected;
});

Deno.test("an idle connection is closed when the server sends GOAWAY", async () => {
  const ended = Promise.withResolvers<void>();
  const peer = new Peer({ onEnd: ended.resolve });
  peer.send((out) => goAway(out, 0, CODE.none));
  await ended.promise;
  assert(peer.isClosed);
});

Deno.test("a request that was buffered but not written when the connection ended is rejected as not processed", async () => {
  const peer = new Peer();
  await peer.sent(2);
  const first = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 1);
  peer.block();
  const unconfirmed = peer.connection.request(request({ method: "POST", body: "x" }));
  // The bytes were written to the connection, which does not report whether they were sent.
  await Promise.resolve();
  const buffered = peer.connection.request(request({ method: "POST", body: "x" }));
  const all = Promise.allSettled([first, unconfirmed, buffered]);
  peer.end();
  const codes = (await all).map((outcome) => outcome.status === "rejected" ? outcome.reason.code : "responded");
  assert.deepEqual(codes, ["Unanswered", "Unanswered", "NotProcessed"]);
});

Deno.test("all requests, including queued and later ones, fail with ConnectionClosed when the client closes the connection", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  await peer.sent(3);
  const all = Promise.allSettled([1, 2].map(() => peer.connection.request(request({ method: "POST", body: "x" }))));
  peer.connection.close();
  for (const outcome of await all) {
    assert.equal((outcome as PromiseRejectedResult).reason.code, "ConnectionClosed");
  }
  await assert.rejects(peer.connection.request(request()), { code: "ConnectionClosed" });
});

Deno.test("the errors for a lost connection quote the reason of GOAWAY", async () => {
  const peer = new Peer();
  const [pending, late] = [peer.connection.request(request()), peer.connection.request(request())];
  const rejected = assert.rejects(late, {
    name: "NotProcessedError",
    message:
      'the server accepts no further requests on this connection (the server sent GOAWAY: ENHANCE_YOUR_CALM ("too_many_pings"))',
  });
  await peer.firstFrame(FRAME.headers, 3);
  peer.send((out) => goAway(out, 1, 11, "too_many_pings"));
  await rejected;
  peer.end();
  await assert.rejects(pending, {
    name: "UnansweredError",
    message: 'the server closed the connection (the server sent GOAWAY: ENHANCE_YOUR_CALM ("too_many_pings"))',
  });
});

Deno.test("REFUSED_STREAM before a response rejects a request as not processed; other resets do not", async () => {
  const peer = new Peer();
  const pending = [1, 3, 5].map((n) => peer.connection.request(request({ streams: n === 5 })));
  await peer.firstFrame(FRAME.headers, 5);
  peer.send((out) => {
    out.numbers(FRAME.reset, 1, CODE.refused);
    out.numbers(FRAME.reset, 3, 2);
    out.frame(FRAME.headers, FLAG.endHeaders, 5, OK);
    out.numbers(FRAME.reset, 5, CODE.refused);
  });
  await assert.rejects(pending[0]!, NotProcessedError);
  await assert.rejects(pending[1]!, {
    code: "StreamReset",
    message: "the server reset the request (HTTP/2 INTERNAL_ERROR)",
  });
  // The server processed it: it has sent a status.
  await assert.rejects((await pending[2]!).text(), {
    code: "StreamReset",
    message: "the server reset the request (HTTP/2 REFUSED_STREAM)",
  });
  assert(peer.connection.isOpen);
});

Deno.test("after a reset with PROTOCOL_ERROR, the connection accepts no requests and finishes the pending ones", async () => {
  const peer = new Peer();
  const pending = [1, 3].map(() => peer.connection.request(request()));
  await peer.firstFrame(FRAME.headers, 3);
  peer.send((out) => out.numbers(FRAME.reset, 1, CODE.protocol));
  await assert.rejects(pending[0]!, UnansweredError);
  assert.equal(peer.connection.isOpen, false);
  peer.send((out) => respond(out, 3));
  assert.equal((await pending[1]!).status, 200);
  assert(peer.isClosed);
});

Deno.test("a response before the end of the request body is returned, and the rest of the body is not sent", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.window, 4]]));
  await peer.sent(3);
  const pending = peer.connection.request(request({ body: "0123456789" }));
  await peer.firstFrame(FRAME.data, 1);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("413")));
    out.frame(FRAME.data, FLAG.end, 1, bytes("too large"));
    out.numbers(FRAME.reset, 1, CODE.none);
    out.numbers(FRAME.window, 1, 100);
  });
  const response = await pending;
  assert.deepEqual([response.status, await response.text()], [413, "too large"]);
  assert.equal(uint32((await peer.firstFrame(FRAME.reset, 1)).payload, 0), CODE.cancel);
  const other = peer.connection.request(request());
  await peer.firstFrame(FRAME.headers, 3);
  assert.equal(peer.frames.filter(({ type }) => type === FRAME.data).length, 1);
  peer.send((out) => respond(out, 3));
  assert.equal((await other).status, 200);
});

Deno.test("the server is pinged after a request was aborted before anything was received", async () => {
  const clock = new VirtualClock();
  const peer = new Peer({ clock });
  peer.send((out) => out.settings([]));
  await peer.sent(3);
  const stop = new AbortController();
  const pending = peer.connection.request(request({ signal: stop.signal }));
  await peer.firstFrame(FRAME.headers, 1);
  stop.abort("too late");
  await assert.rejects(pending, (reason) => reason === "too late");
  // The dead connection is detected although no request is pending.
  const advance = (seconds: number) => {
    for (const end = clock.now() + seconds * 1000; clock.step(end););
  };
  advance(4);
  await peer.firstFrame(FRAME.ping, 0);
  assert(!peer.isClosed);
  advance(4.25);
  assert(peer.isClosed);
});

Deno.test("a queued request is not sent if its fence throws when a stream is free", async () => {
  const peer = new Peer();
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  await peer.sent(3);
  let isOpen = true;
  const fence = () => {
    if (!isOpen) throw new Error("another leads");
  };
  const pending = [1, 2].map(() => peer.connection.request(request({ fence })));
  await peer.firstFrame(FRAME.headers, 1);
  isOpen = false;
  const rejected = assert.rejects(
    pending[1]!,
    ({ code, cause }) => code === "Fenced" && cause.message === "another leads",
  );
  peer.send((out) => respond(out, 1));
  assert.equal((await pending[0]!).status, 200);
  await rejected;
  assert.equal(peer.frames.filter(({ type }) => type === FRAME.headers).length, 1);
});
