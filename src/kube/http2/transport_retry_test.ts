import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual_clock.ts";
import { localAuthority } from "../../testing/local_certificate.ts";
import { bytes, goAway, OK, respond, text } from "./_peer.ts";
import type { WireRequest } from "../connection.ts";
import { CODE, FLAG, FRAME, type Frame, FrameReader, FrameWriter, SETTING } from "./frames.ts";
import { Http2Transport } from "./transport.ts";

Deno.test("when a connection is lost, Http2Transport repeats GET requests, and writes that were not sent", async () => {
  await using server = await serve((connection, { type, stream }) => {
    if (type !== FRAME.headers) return;
    // The connections close with their second, third, second and first request.
    if (stream === [3, 5, 3, 1][connection.number - 1]) connection.close();
    else connection.send(ok(stream));
  }, [[SETTING.concurrent, 3]]);
  await server.send({});
  const posts = [1, 2].map(() => server.send({ method: "POST", body: "x" }));
  // The first may have been processed. The second was queued.
  await assert.rejects(posts[0]!, { code: "Unanswered" });
  assert.equal((await posts[1]!).status, 200);
  for (let i = 0; i < 2; i++) assert.equal((await server.send({})).status, 200);
  assert.deepEqual(server.connections.map(({ requests }) => requests), [2, 3, 1]);
  // The informer restarts a watch itself.
  await assert.rejects(server.send({ streams: true }), { code: "Unanswered" });
  assert.equal(server.connections.length, 4);
});

Deno.test("Http2Transport repeats requests that a server rejected with GOAWAY", async () => {
  await using server = await serve((connection, { type, stream, flags }) => {
    if (type !== FRAME.data || !(flags & FLAG.end)) return;
    if (connection.number > 1) return connection.send(ok(stream));
    if (stream === 3) {
      connection.send((out) => {
        goAway(out, 2 ** 31 - 1, CODE.none);
        goAway(out, 1, CODE.none);
        respond(out, 1);
      });
    }
  });
  const posts = [1, 3].map(() => server.send({ method: "POST", body: "x" }));
  for (const post of posts) assert.equal((await post).status, 200);
  assert.deepEqual(server.connections.map(({ requests }) => requests), [2, 1]);
});

Deno.test("Http2Transport repeats a rejected request with growing delays, and then fails with the reason of GOAWAY", async () => {
  const clock = new VirtualClock();
  await using server = await serve(rejectWithGoAway, [], clock);
  const pending = server.send({ method: "POST", body: "x" });
  const failed = assert.rejects(pending, {
    code: "NotProcessed",
    message:
      'the server accepts no further requests on this connection (the server sent GOAWAY: ENHANCE_YOUR_CALM ("not now"))',
  });
  await server.closed(1);
  for (const [number, pause] of [[2, 1000], [3, 2000], [4, 4000]] as const) {
    await server.closed(number);
    assert.equal(clock.nextDue, clock.now() + pause);
    assert(clock.step(clock.nextDue!));
  }
  await failed;
  assert.equal(server.connections.length, 5);
});

Deno.test("Http2Transport does not repeat a request after a reset, or when its signal is aborted", async () => {
  const stop = new AbortController();
  for (const trigger of ["reset", "signal"]) {
    const clock = new VirtualClock();
    await using server = await serve(rejectWithGoAway, [], clock);
    const pending = server.send({ method: "POST", body: "x", signal: stop.signal });
    await server.closed(2);
    const failed = assert.rejects(
      pending,
      (reason: { code?: string }) =>
        trigger === "reset" ? reason.code === "ConnectionClosed" : String(reason) === "enough",
    );
    if (trigger === "reset") server.reset();
    else stop.abort("enough");
    await failed;
    assert.equal(clock.nextDue, undefined);
    assert.equal(server.connections.length, 2);
  }
});

Deno.test("Http2Transport calls the fence again before it repeats a request", async () => {
  await using server = await serve(rejectWithGoAway);
  let calls = 0;
  const fence = () => {
    if (++calls === 2) throw new Error("another replica leads");
  };
  await assert.rejects(server.send({ method: "POST", body: "x", fence }), ({ code, cause }) => {
    return code === "Fenced" && cause.message === "another replica leads";
  });
  assert.deepEqual(server.connections.map(({ requests }) => requests).slice(1).filter((count) => count > 0), []);
});

Deno.test("Http2Transport detects that its second connection is dead by PING, and the first one continues", async () => {
  const clock = new VirtualClock();
  const pings: number[] = [];
  let pinged = (): void => {};
  await using server = await serve(
    (connection, { type, stream, flags, payload }) => {
      if (type === FRAME.headers) connection.send(stream === 1 ? startResponse(stream) : ok(stream));
      if (type !== FRAME.ping || flags & FLAG.ack) return;
      pings.push(connection.number);
      pinged();
      if (connection.number === 1) connection.send((out) => out.frame(FRAME.ping, FLAG.ack, 0, payload.slice()));
    },
    [],
    clock,
  );
  const readers = [];
  for (const connectionIndex of [0, 1]) {
    readers.push((await server.send({ connectionIndex, streams: true })).body!.getReader());
  }
  const [first, second] = readers.map((reader) => reader.read());
  const advance = (seconds: number) => {
    for (const end = clock.now() + seconds * 1000; clock.step(end););
  };
  advance(4);
  while (pings.length < 2) await new Promise<void>((resolve) => pinged = resolve);
  assert.deepEqual([...pings].sort(), [1, 2]);
  // The server responds to this request after the PING, so the PING was acknowledged before.
  assert.equal((await server.send({})).status, 200);
  const dead = assert.rejects(second!, { code: "Unanswered" });
  advance(4.25);
  await dead;
  assert.equal((await server.send({})).status, 200);
  server.connections[0]!.send((out) => out.frame(FRAME.data, 0, 1, bytes("alive")));
  assert.deepEqual((await first!).value, bytes("alive"));
  assert.equal(server.connections.length, 2);
  // The second index opens a new connection.
  assert.equal((await server.send({ connectionIndex: 1, streams: true })).status, 200);
  assert.equal(server.connections.length, 3);
});

Deno.test("Http2Transport opens further connections for watches if the server allows few streams", async () => {
  await using server = await serve((connection, { type, stream, payload }) => {
    if (type !== FRAME.headers) return;
    const isWatch = text(payload).includes("/watch");
    if (isWatch) connection.watches++;
    connection.send(isWatch ? startResponse(stream) : ok(stream));
  }, [[SETTING.concurrent, 10]]);
  await server.send({});
  const watches = await Promise.all(Array.from({ length: 20 }, () => server.send({ streams: true })));
  assert.equal(watches.length, 20);
  assert.deepEqual(server.connections.map(({ watches }) => watches), [6, 6, 6, 2]);
  const responses = await Promise.all(Array.from({ length: 20 }, () => server.send({})));
  assert(responses.every(({ status }) => status === 200));
  assert.equal(server.connections.length, 4);
});

function ok(stream: number): (out: FrameWriter) => void {
  return (out) => respond(out, stream);
}

function startResponse(stream: number): (out: FrameWriter) => void {
  return (out) => out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
}

/** Rejects every request with GOAWAY. */
function rejectWithGoAway(connection: ServerConnection, { type }: Frame): void {
  if (type === FRAME.headers) connection.send((out) => goAway(out, 0, 11, "not now"));
}

interface ServerConnection {
  /** Number of the connection, from 1. */
  readonly number: number;
  /** Number of requests. */
  requests: number;
  /** Number of watches, counted by the test. */
  watches: number;
  send(write: (out: FrameWriter) => void): void;
  close(): void;
}

/** Starts a server that handles frames as the test does, and returns a transport to it. */
async function serve(
  onFrame: (connection: ServerConnection, frame: Frame) => void,
  settings: [number, number][] = [],
  clock: Clock = systemClock,
) {
  const authority = await localAuthority();
  const { certificate: cert, key } = await authority.server();
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key, alpnProtocols: ["h2"] });
  const connections: ServerConnection[] = [];
  const serving: Promise<void>[] = [];
  let isDisposed = false;
  const accepting = (async () => {
    for await (const connection of listener) {
      const done = serveConnection(connection, connections.length + 1, settings, (server, frame) => {
        if (frame.type === FRAME.headers) server.requests++;
        onFrame(server, frame);
      }, (server) => void connections.push(server));
      serving.push(done);
    }
  })().catch((error) => {
    if (!isDisposed) throw error;
  });
  const transport = new Http2Transport({ ca: () => authority.caCert, clock });
  const url = `https://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  return {
    connections,
    send: (parts: Partial<WireRequest>) =>
      transport.send(url + (parts.streams ? "/watch" : "/x"), {
        method: "GET",
        headers: {},
        body: null,
        signal: null,
        ...parts,
      }),
    /** Waits until a connection is closed. */
    async closed(count: number) {
      for (;;) {
        const done = serving[count - 1];
        if (done !== undefined) return await done;
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
    reset: () => transport.reset(),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      transport.close();
      listener.close();
      await accepting;
      await Promise.all(serving);
    },
  };
}

/** Handles one connection on the server, until either side closes it. */
async function serveConnection(
  connection: Deno.TlsConn,
  number: number,
  settings: [number, number][],
  onFrame: (server: ServerConnection, frame: Frame) => void,
  onConnection: (server: ServerConnection) => void,
): Promise<void> {
  let isClosed = false;
  let writing: Promise<void> = Promise.resolve();
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let rest = bytes; rest.length > 0 && !isClosed;) rest = rest.subarray(await connection.write(rest));
  };
  const server: ServerConnection = {
    number,
    requests: 0,
    watches: 0,
    send(writeFrames) {
      const out = new FrameWriter();
      writeFrames(out);
      const all = out.take().slice();
      // The client may have closed the connection.
      writing = writing.then(() => write(all)).catch(() => undefined);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      connection.close();
    },
  };
  onConnection(server);
  try {
    server.send((out) => out.settings(settings));
    for (let left = 24; left > 0;) left -= await connection.read(new Uint8Array(left)) ?? left;
    const reader = new FrameReader();
    for (;;) {
      const count = await connection.read(reader.buffer);
      if (count === null) break;
      reader.read(count, (frame) => isClosed || onFrame(server, frame));
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    // One side closed the connection.
  }
  await writing;
  server.close();
}
