import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import { answer, asking, bytes, goodbye, OK, peerOf } from "./_http2_peer.ts";
import { NotProcessedError, UnansweredError } from "./http2_asking.ts";
import { CODE, FLAG, four, FRAME, SETTING } from "./http2_frames.ts";

Deno.test("a server that goes away ends what it looks at, and the rest may be sent again elsewhere", async () => {
  const peer = peerOf();
  const answers = [peer.http2.request(asking()), peer.http2.request(asking())];
  await peer.got(FRAME.headers, 3);
  peer.send((out) => goodbye(out, 1, CODE.none));
  await assert.rejects(answers[1]!, NotProcessedError);
  assert.equal(peer.http2.isOpen, false);
  await assert.rejects(peer.http2.request(asking()), {
    name: "NotProcessedError",
    message: "the server takes no more requests on this connection; the server said NO_ERROR",
  });
  assert.equal(peer.isClosed, false);
  peer.send((out) => answer(out, 1));
  assert.equal((await answers[0]!).status, 200);
  assert.equal(peer.isClosed, true);
  await assert.rejects(peer.http2.request(asking()), NotProcessedError);
});

Deno.test("a server that says twice that it goes means the second time which requests it does not look at", async () => {
  const peer = peerOf();
  const asked = [1, 3, 5].map((n) => peer.http2.request(asking({ method: "POST", streams: n === 1, body: "" })));
  await peer.got(FRAME.headers, 5);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, OK);
    goodbye(out, 2 ** 31 - 1, CODE.none);
  });
  const reader = (await asked[0]!).body!.getReader();
  assert.equal(peer.http2.isOpen, false);
  await assert.rejects(peer.http2.request(asking()), NotProcessedError);
  peer.send((out) => goodbye(out, 3, CODE.none));
  await assert.rejects(asked[2]!, NotProcessedError);
  peer.send((out) => {
    out.frame(FRAME.data, 0, 1, bytes("x"));
    answer(out, 3);
  });
  assert.equal((await asked[1]!).status, 200);
  assert.deepEqual((await reader.read()).value, bytes("x"));
  assert.equal(peer.isClosed, false);
  peer.send((out) => out.frame(FRAME.data, FLAG.end, 1, bytes("")));
  assert.equal((await reader.read()).done, true);
  assert.equal(peer.isClosed, true);
});

Deno.test("what waits in line when the server goes was not sent, and may go elsewhere, whatever it asks for", async () => {
  for (const way of ["goes away", "closes", "breaks", "is mute"]) {
    const clock = new VirtualClock();
    const peer = peerOf({ clock });
    peer.send((out) => out.settings([[SETTING.concurrent, 3]]));
    await peer.sent(3);
    const post = asking({ method: "POST", body: "x" });
    const sent = peer.http2.request(post);
    const lines = [1, 2].map(() => peer.http2.request(post));
    const refused = lines.map((line) => assert.rejects(line, NotProcessedError, way));
    await peer.got(FRAME.data, 1);
    const unanswered = way === "goes away" ? undefined : assert.rejects(sent, UnansweredError, way);
    if (way === "goes away") peer.send((out) => goodbye(out, 2 ** 31 - 1, CODE.none));
    if (way === "closes") peer.end();
    if (way === "breaks") peer.end(new Deno.errors.ConnectionReset("connection reset by peer"));
    if (way === "is mute") { while (clock.step(clock.now() + 10_000)); }
    await Promise.all(refused);
    await unanswered;
    if (way === "goes away") peer.send((out) => answer(out, 1));
    if (way === "goes away") assert.equal((await sent).status, 200);
    assert.equal(peer.frames.filter(({ type }) => type === FRAME.headers).length, 1);
  }
});

Deno.test("what waits while the server takes nothing goes elsewhere when the connection breaks", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.concurrent, 0]]));
  await peer.sent(3);
  const refused = assert.rejects(peer.http2.request(asking()), NotProcessedError);
  peer.end();
  await refused;
});

Deno.test("a connection over which nothing goes on ends with the server's goodbye", async () => {
  const gone = Promise.withResolvers<void>();
  const peer = peerOf({ onGone: gone.resolve });
  peer.send((out) => goodbye(out, 0, CODE.none));
  await gone.promise;
  assert(peer.isClosed);
});

Deno.test("what was written and not yet given to the connection when it broke was not sent either", async () => {
  const peer = peerOf();
  await peer.sent(2);
  const first = peer.http2.request(asking());
  await peer.got(FRAME.headers, 1);
  peer.block();
  const taken = peer.http2.request(asking({ method: "POST", body: "x" }));
  // The connection has it, and does not say whether it is on its way.
  await Promise.resolve();
  const written = peer.http2.request(asking({ method: "POST", body: "x" }));
  const all = Promise.allSettled([first, taken, written]);
  peer.end();
  const names = (await all).map((outcome) => outcome.status === "rejected" ? outcome.reason.name : "answered");
  assert.deepEqual(names, ["UnansweredError", "UnansweredError", "NotProcessedError"]);
});

Deno.test("what waits in line when the connection is closed on our side goes nowhere", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  await peer.sent(3);
  const all = Promise.allSettled([1, 2].map(() => peer.http2.request(asking({ method: "POST", body: "x" }))));
  peer.http2.close();
  for (const outcome of await all) {
    assert.equal(String((outcome as PromiseRejectedResult).reason), "Error: the connection was closed");
  }
  await assert.rejects(peer.http2.request(asking()), /^Error: the connection was closed$/);
});

Deno.test("the error of a lost connection says what the server said before, in a line", async () => {
  const peer = peerOf();
  const [asked, late] = [peer.http2.request(asking()), peer.http2.request(asking())];
  const refused = assert.rejects(late, {
    name: "NotProcessedError",
    message:
      'the server takes no more requests on this connection; the server said ENHANCE_YOUR_CALM ("too_many_pings")',
  });
  await peer.got(FRAME.headers, 3);
  peer.send((out) => goodbye(out, 1, 11, "too_many_pings"));
  await refused;
  peer.end();
  await assert.rejects(asked, {
    name: "UnansweredError",
    message: 'the connection was closed by the server; the server said ENHANCE_YOUR_CALM ("too_many_pings")',
  });
});

Deno.test("a request that the server refused unseen may be sent again, one that it broke off may not", async () => {
  const peer = peerOf();
  const asked = [1, 3, 5].map((n) => peer.http2.request(asking({ streams: n === 5 })));
  await peer.got(FRAME.headers, 5);
  peer.send((out) => {
    out.numbers(FRAME.reset, 1, CODE.refused);
    out.numbers(FRAME.reset, 3, 2);
    out.frame(FRAME.headers, FLAG.endHeaders, 5, OK);
    out.numbers(FRAME.reset, 5, CODE.refused);
  });
  await assert.rejects(asked[0]!, NotProcessedError);
  await assert.rejects(asked[1]!, /^Error: the server ended the request \(HTTP\/2 INTERNAL_ERROR\)$/);
  // It was looked at: there is an answer.
  await assert.rejects((await asked[2]!).text(), /^Error: the server ended the request \(HTTP\/2 REFUSED_STREAM\)$/);
  assert(peer.http2.isOpen);
});

Deno.test("a server that lost count is asked nothing more on the connection, and what goes on ends", async () => {
  const peer = peerOf();
  const asked = [1, 3].map(() => peer.http2.request(asking()));
  await peer.got(FRAME.headers, 3);
  peer.send((out) => out.numbers(FRAME.reset, 1, CODE.protocol));
  await assert.rejects(asked[0]!, UnansweredError);
  assert.equal(peer.http2.isOpen, false);
  peer.send((out) => answer(out, 3));
  assert.equal((await asked[1]!).status, 200);
  assert(peer.isClosed);
});

Deno.test("an answer that comes before the body was sent whole counts, whatever the server says of the rest", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.window, 4]]));
  await peer.sent(3);
  const asked = peer.http2.request(asking({ body: "0123456789" }));
  await peer.got(FRAME.data, 1);
  peer.send((out) => {
    out.frame(FRAME.headers, FLAG.endHeaders, 1, Uint8Array.of(0x08, 3, ...bytes("413")));
    out.frame(FRAME.data, FLAG.end, 1, bytes("too large"));
    out.numbers(FRAME.reset, 1, CODE.none);
    out.numbers(FRAME.window, 1, 100);
  });
  const told = await asked;
  assert.deepEqual([told.status, await told.text()], [413, "too large"]);
  assert.equal(four((await peer.got(FRAME.reset, 1)).payload, 0), CODE.cancel);
  const other = peer.http2.request(asking());
  await peer.got(FRAME.headers, 3);
  // Nothing of the first was sent on.
  assert.equal(peer.frames.filter(({ type }) => type === FRAME.data).length, 1);
  peer.send((out) => answer(out, 3));
  assert.equal((await other).status, 200);
});

Deno.test("a server is asked whether it is there after a request was given up of which it said nothing", async () => {
  const clock = new VirtualClock();
  const peer = peerOf({ clock });
  peer.send((out) => out.settings([]));
  await peer.sent(3);
  const stop = new AbortController();
  const asked = peer.http2.request(asking({ signal: stop.signal }));
  await peer.got(FRAME.headers, 1);
  stop.abort("too late");
  await assert.rejects(asked, (reason) => reason === "too late");
  // Nothing goes on, and still it is found dead.
  const until = (seconds: number) => {
    for (const end = clock.now() + seconds * 1000; clock.step(end););
  };
  until(4);
  await peer.got(FRAME.ping, 0);
  assert(!peer.isClosed);
  until(4.25);
  assert(peer.isClosed);
});

Deno.test("a request goes out only if its fence lets it, when its turn comes", async () => {
  const peer = peerOf();
  peer.send((out) => out.settings([[SETTING.concurrent, 1]]));
  await peer.sent(3);
  let isOpen = true;
  const fence = () => {
    if (!isOpen) throw new Error("another leads");
  };
  const asked = [1, 2].map(() => peer.http2.request(asking({ fence })));
  await peer.got(FRAME.headers, 1);
  isOpen = false;
  const refused = assert.rejects(asked[1]!, ({ name, cause }) => name === "FencedError" && /another leads/.test(cause));
  peer.send((out) => answer(out, 1));
  assert.equal((await asked[0]!).status, 200);
  await refused;
  assert.equal(peer.frames.filter(({ type }) => type === FRAME.headers).length, 1);
});
