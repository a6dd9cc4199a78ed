import assert from "node:assert/strict";
import { type Clock, systemClock } from "../base/clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { localAuthority } from "../testing/local_certificate.ts";
import { answer, bytes, goodbye, OK, text } from "./_http2_peer.ts";
import type { Outgoing } from "./connection.ts";
import { CODE, FLAG, FRAME, type Frame, FrameReader, FrameWriter, SETTING } from "./http2_frames.ts";
import { http2Transport } from "./http2_transport.ts";

Deno.test("http2Transport sends elsewhere what was not sent when a connection broke, and what only reads", async () => {
  await using server = await serve((connection, { type, stream }) => {
    if (type !== FRAME.headers) return;
    // The first connection breaks with its second request, the second with its third, and that for a watch with its first.
    if (stream === [3, 5, 3, 1][connection.number - 1]) connection.close();
    else connection.send(ok(stream));
  }, [[SETTING.concurrent, 3]]);
  await server.send({});
  const posts = [1, 2].map(() => server.send({ method: "POST", body: "x" }));
  // It may have been looked at. The other waited for it.
  await assert.rejects(posts[0]!, { name: "UnansweredError" });
  assert.equal((await posts[1]!).status, 200);
  for (let i = 0; i < 2; i++) assert.equal((await server.send({})).status, 200);
  assert.deepEqual(server.connections.map(({ asked }) => asked), [2, 3, 1]);
  // A watch knows itself where to go on.
  await assert.rejects(server.send({ streams: true }), { name: "UnansweredError" });
  assert.equal(server.connections.length, 4);
});

Deno.test("http2Transport sends elsewhere whatever a server that goes away did not look at", async () => {
  await using server = await serve((connection, { type, stream, flags }) => {
    if (type !== FRAME.data || !(flags & FLAG.end)) return;
    if (connection.number > 1) return connection.send(ok(stream));
    if (stream === 3) {
      connection.send((out) => {
        goodbye(out, 2 ** 31 - 1, CODE.none);
        goodbye(out, 1, CODE.none);
        answer(out, 1);
      });
    }
  });
  const posts = [1, 3].map(() => server.send({ method: "POST", body: "x" }));
  for (const post of posts) assert.equal((await post).status, 200);
  assert.deepEqual(server.connections.map(({ asked }) => asked), [2, 1]);
});

Deno.test("http2Transport sends again at once, then after a pause that grows, then says why the server takes nothing", async () => {
  const clock = new VirtualClock();
  await using server = await serve(refusing, [], clock);
  const asked = server.send({ method: "POST", body: "x" });
  const failed = assert.rejects(asked, {
    name: "NotProcessedError",
    message: 'the server takes no more requests on this connection; the server said ENHANCE_YOUR_CALM ("not now")',
  });
  await server.gone(1);
  for (const [number, pause] of [[2, 1000], [3, 2000], [4, 4000]] as const) {
    await server.gone(number);
    assert.equal(clock.nextDue, clock.now() + pause);
    assert(clock.step(clock.nextDue!));
  }
  await failed;
  assert.equal(server.connections.length, 5);
});

Deno.test("http2Transport sends nothing again after a reset, nor when its signal is aborted", async () => {
  const stop = new AbortController();
  for (const way of ["reset", "signal"]) {
    const clock = new VirtualClock();
    await using server = await serve(refusing, [], clock);
    const asked = server.send({ method: "POST", body: "x", signal: stop.signal });
    await server.gone(2);
    const failed = assert.rejects(asked, (reason) => /enough|the connection was closed/.test(String(reason)));
    if (way === "reset") server.reset();
    else stop.abort("enough");
    await failed;
    assert.equal(clock.nextDue, undefined);
    assert.equal(server.connections.length, 2);
  }
});

Deno.test("http2Transport asks the fence again before it sends again", async () => {
  await using server = await serve(refusing);
  let asked = 0;
  const fence = () => {
    if (++asked === 2) throw new Error("another leads");
  };
  await assert.rejects(server.send({ method: "POST", body: "x", fence }), ({ name, cause }) => {
    return name === "FencedError" && /another leads/.test(cause);
  });
  assert.deepEqual(server.connections.map(({ asked }) => asked).slice(1).filter((count) => count > 0), []);
});

Deno.test("http2Transport finds a further connection that went mute by its own pings, and the first goes on", async () => {
  const clock = new VirtualClock();
  const pings: number[] = [];
  let pinged = (): void => {};
  await using server = await serve(
    (connection, { type, stream, flags, payload }) => {
      if (type === FRAME.headers) connection.send(stream === 1 ? begun(stream) : ok(stream));
      if (type !== FRAME.ping || flags & FLAG.ack) return;
      pings.push(connection.number);
      pinged();
      if (connection.number === 1) connection.send((out) => out.frame(FRAME.ping, FLAG.ack, 0, payload.slice()));
    },
    [],
    clock,
  );
  const readers = [];
  for (const lane of [0, 1]) readers.push((await server.send({ lane, streams: true })).body!.getReader());
  const [first, second] = readers.map((reader) => reader.read());
  const until = (seconds: number) => {
    for (const end = clock.now() + seconds * 1000; clock.step(end););
  };
  until(4);
  while (pings.length < 2) await new Promise<void>((resolve) => pinged = resolve);
  assert.deepEqual([...pings].sort(), [1, 2]);
  // Its answer comes behind that to the ping.
  assert.equal((await server.send({})).status, 200);
  const dead = assert.rejects(second!, /the connection is dead: nothing came for 8\.25 s/);
  until(4.25);
  await dead;
  assert.equal((await server.send({})).status, 200);
  server.connections[0]!.send((out) => out.frame(FRAME.data, 0, 1, bytes("alive")));
  assert.deepEqual((await first!).value, bytes("alive"));
  assert.equal(server.connections.length, 2);
  // The lane is opened anew.
  assert.equal((await server.send({ lane: 1, streams: true })).status, 200);
  assert.equal(server.connections.length, 3);
});

Deno.test("http2Transport opens further connections for watches where a server takes few requests at once", async () => {
  await using server = await serve((connection, { type, stream, payload }) => {
    if (type !== FRAME.headers) return;
    const isWatch = text(payload).includes("/watch");
    if (isWatch) connection.watches++;
    connection.send(isWatch ? begun(stream) : ok(stream));
  }, [[SETTING.concurrent, 10]]);
  await server.send({});
  const watches = await Promise.all(Array.from({ length: 20 }, () => server.send({ streams: true })));
  assert.equal(watches.length, 20);
  assert.deepEqual(server.connections.map(({ watches }) => watches), [6, 6, 6, 2]);
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.send({})));
  assert(answers.every(({ status }) => status === 200));
  assert.equal(server.connections.length, 4);
});

function ok(stream: number): (out: FrameWriter) => void {
  return (out) => answer(out, stream);
}

function begun(stream: number): (out: FrameWriter) => void {
  return (out) => out.frame(FRAME.headers, FLAG.endHeaders, stream, OK);
}

/** A server that looks at no request. */
function refusing(connection: ServerConnection, { type }: Frame): void {
  if (type === FRAME.headers) connection.send((out) => goodbye(out, 0, 11, "not now"));
}

interface ServerConnection {
  /** The how-many-eth it is, from 1. */
  readonly number: number;
  /** How many requests came. */
  asked: number;
  /** As the test counts them. */
  watches: number;
  send(write: (out: FrameWriter) => void): void;
  close(): void;
}

/** A server of which the test says what it does with each frame, and a transport to it. */
async function serve(
  take: (connection: ServerConnection, frame: Frame) => void,
  settings: [number, number][] = [],
  clock: Clock = systemClock,
) {
  const authority = await localAuthority();
  const { certificate: cert, key } = await authority.server();
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, cert, key, alpnProtocols: ["h2"] });
  const connections: ServerConnection[] = [];
  const serving: Promise<void>[] = [];
  let isOver = false;
  const accepting = (async () => {
    for await (const connection of listener) {
      const done = talk(connection, connections.length + 1, settings, (made, frame) => {
        if (frame.type === FRAME.headers) made.asked++;
        take(made, frame);
      }, (made) => void connections.push(made));
      serving.push(done);
    }
  })().catch((error) => {
    if (!isOver) throw error;
  });
  const transport = http2Transport({ ca: () => authority.caCert, clock });
  const url = `https://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  return {
    connections,
    send: (parts: Partial<Outgoing>) =>
      transport.send(url + (parts.streams ? "/watch" : "/x"), {
        method: "GET",
        headers: {},
        body: null,
        signal: null,
        ...parts,
      }),
    /** Waits until the client has closed so many connections. */
    async gone(count: number) {
      for (;;) {
        const done = serving[count - 1];
        if (done !== undefined) return await done;
        await new Promise((resolve) => setTimeout(resolve));
      }
    },
    reset: () => transport.reset(),
    async [Symbol.asyncDispose]() {
      isOver = true;
      transport.close();
      listener.close();
      await accepting;
      await Promise.all(serving);
    },
  };
}

/** One connection on the server's side, until either side closes it. */
async function talk(
  connection: Deno.TlsConn,
  number: number,
  settings: [number, number][],
  take: (made: ServerConnection, frame: Frame) => void,
  begin: (made: ServerConnection) => void,
): Promise<void> {
  let isClosed = false;
  let writing: Promise<void> = Promise.resolve();
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let rest = bytes; rest.length > 0 && !isClosed;) rest = rest.subarray(await connection.write(rest));
  };
  const made: ServerConnection = {
    number,
    asked: 0,
    watches: 0,
    send(tell) {
      const out = new FrameWriter();
      tell(out);
      const all = out.take().slice();
      // A client may have closed it meanwhile.
      writing = writing.then(() => write(all)).catch(() => undefined);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      connection.close();
    },
  };
  begin(made);
  try {
    made.send((out) => out.settings(settings));
    for (let left = 24; left > 0;) left -= await connection.read(new Uint8Array(left)) ?? left;
    const reader = new FrameReader();
    for (;;) {
      const count = await connection.read(reader.room);
      if (count === null) break;
      reader.read(count, (frame) => isClosed || take(made, frame));
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    // Whoever closes a connection ends what is read from it.
  }
  await writing;
  made.close();
}
