/** TcpFront in virtual time: which connections it admits, and which it closes. */
import assert from "node:assert/strict";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import type { Caller } from "../../src/runtime/webhooks/caller.ts";
import { eventually } from "../eventually.ts";
import { advance } from "./_webhooks.ts";
import { attack } from "../fixtures/attacker.ts";
import type { Target } from "../../src/runtime/webhooks/pipe.ts";
import { TcpFront } from "../../src/runtime/webhooks/tcp_front.ts";

const LIMITS = { firstByte: 1000, silence: 5000 };

/** Starts a TcpFront, and a server behind it that sends `hello` on each connection. */
function startFront({ hello = "", ...options }: { readonly connections?: number; readonly hello?: string } = {}) {
  const stack = new AsyncDisposableStack();
  const clock = new VirtualClock();
  const inner = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ends: Deno.TcpConn[] = [];
  const accepting = (async () => {
    for await (const end of inner) {
      ends.push(end);
      await end.write(new TextEncoder().encode(hello));
    }
  })();
  stack.defer(async () => {
    inner.close();
    await accepting;
    ends.forEach(close);
  });
  const front = stack.use(new TcpFront({ hostname: "127.0.0.1", port: 0, clock, ...LIMITS, ...options }));
  const target = targetOf(inner);
  front.target = target;
  let connected = 0;
  const connect = async () => {
    const index = connected++;
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: front.port });
    stack.defer(() => close(connection));
    const serverEnd = async (): Promise<Deno.TcpConn> => {
      while (ends.length <= index) await turn();
      return ends[index]!;
    };
    return {
      close: () => close(connection),
      /** Returns the server's end of the connection. */
      serverEnd,
      /** Returns the object to which the handler reports the requests of the connection. */
      caller: async (): Promise<Caller> => target.callers.get((await serverEnd()).remoteAddr.port)!,
      /** Returns the next bytes, or `undefined` if the connection is closed. */
      async read(): Promise<string | undefined> {
        const buffer = new Uint8Array(100);
        const size = await connection.read(buffer).catch(() => null);
        return size === null ? undefined : new TextDecoder().decode(buffer.subarray(0, size));
      },
      write: (text: string) => connection.write(new TextEncoder().encode(text)),
      /** Sends bytes from the server. */
      async send(text: string): Promise<void> {
        await (await serverEnd()).write(new TextEncoder().encode(text));
      },
    };
  };
  return {
    front,
    clock,
    ends,
    connect,
    advance: (milliseconds: number) => advance(clock, milliseconds),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

Deno.test("TcpFront closes a connection on which the server sends nothing in time, even if the client sends", async () => {
  await using run = startFront();
  const client = await run.connect();
  await client.write("hello?");
  while (run.front.connections === 0) await turn();
  run.advance(LIMITS.firstByte);
  assert.equal(run.front.connections, 1);
  await client.write("hello?");
  run.advance(LIMITS.firstByte / 2);
  assert.equal(await client.read(), undefined);
});

Deno.test("TcpFront keeps a connection until the server has been silent for too long", async () => {
  await using run = startFront();
  const client = await run.connect();
  await client.send("one");
  assert.equal(await client.read(), "one");
  run.advance(LIMITS.silence);
  await client.send("two");
  assert.equal(await client.read(), "two");
  run.advance(LIMITS.silence);
  await client.send("three");
  assert.equal(await client.read(), "three");
  run.advance(LIMITS.silence + LIMITS.firstByte);
  assert.equal(await client.read(), undefined);
});

Deno.test("a full TcpFront closes a connection that was idle for long when a new one arrives", async () => {
  await using run = startFront({ connections: 1 });
  const one = await run.connect();
  await one.send("one");
  assert.equal(await one.read(), "one");
  run.advance(LIMITS.silence / 2);
  const other = await run.connect();
  await other.send("other");
  assert.equal(await other.read(), "other");
  assert.equal(await one.read(), undefined);
  await eventually(() => assert.equal(run.front.connections, 1));
});

Deno.test("a new connection to a full TcpFront waits until another one is closed, if none was idle for long", async () => {
  await using run = startFront({ connections: 1 });
  const one = await run.connect();
  await one.send("one");
  assert.equal(await one.read(), "one");
  const other = await run.connect();
  await other.write("hello?");
  const sending = other.send("other");
  (await one.serverEnd()).close();
  await sending;
  assert.equal(await other.read(), "other");
});

Deno.test("a connection that waits too long for its turn in a full TcpFront is closed", async () => {
  await using run = startFront({ connections: 1 });
  const one = await run.connect();
  await one.send("one");
  (await one.caller()).began().handlingBegan();
  const other = await run.connect();
  const read = other.read();
  let isClosed = false;
  read.finally(() => isClosed = true);
  while (!isClosed) {
    run.advance(LIMITS.firstByte / 4);
    await turn();
  }
  assert.equal(await read, undefined);
  assert.equal(await one.read(), "one");
});

Deno.test("a full TcpFront never closes a connection whose response is being sent", async () => {
  await using run = startFront({ connections: 2 });
  const [busy, idle] = [await run.connect(), await run.connect()];
  for (const each of [busy, idle]) {
    await each.send("hello");
    assert.equal(await each.read(), "hello");
  }
  const exchange = (await busy.caller()).began();
  exchange.bodyBegan();
  exchange.bodyEnded();
  exchange.handlingBegan();
  for (let i = 0; i < 5; i++) {
    run.advance(LIMITS.silence / 2);
    await busy.send("more");
    assert.equal(await busy.read(), "more");
    const other = await run.connect();
    await other.send("other");
    assert.equal(await other.read(), "other");
  }
  assert.equal(await idle.read(), undefined);
  exchange.ended("response".length);
  await busy.send("response");
  assert.equal(await busy.read(), "response");
});

Deno.test("when a client resets its connection, TcpFront closes the connection to the server at once", async () => {
  await using run = startFront({ hello: "x" });
  await using reset = await attack(run.front.port, { kind: "reset", count: 100 });
  assert.deepEqual([...new Set(reset.results)], ["done"]);
  while (run.front.connections > 0) await turn();
  assert.equal(run.ends.length, 100);
  for (const end of run.ends) assert.equal(await end.read(new Uint8Array(1)).catch(() => null), null);
});

Deno.test("TcpFront forwards less than 100 kB of a client until the handler starts to read a body", async () => {
  await using run = startFront();
  const client = await run.connect();
  await client.send("hello");
  const end = await client.serverEnd();
  let received = 0;
  const receiving = (async () => {
    const buffer = new Uint8Array(65_536);
    for (let size = await end.read(buffer); size !== null; size = await end.read(buffer)) received += size;
  })().catch(() => {});
  const sending = (async () => {
    let sent = 0;
    while (sent < 2 ** 22) sent += await client.write("x".repeat(65_536));
    return sent;
  })();
  const exchange = (await client.caller()).began();
  while (received <= 16_384) await turn();
  // Waits until no more bytes arrive.
  for (let unchanged = 0, last = -1; unchanged < 50; unchanged = received === last ? unchanged + 1 : 0) {
    last = received;
    await turn();
  }
  assert(received > 16_384 && received < 100_000, `${received} bytes`);
  exchange.bodyBegan();
  const sent = await sending;
  while (received < sent) await turn();
  client.close();
  await receiving;
});

Deno.test("TcpFront closes a connection on which many bytes arrive but no request starts", async () => {
  await using run = startFront();
  const client = await run.connect();
  await client.send("hello");
  assert.equal(await client.read(), "hello");
  const end = await client.serverEnd();
  const sending = (async () => {
    while (true) await client.write("x".repeat(65_536));
  })();
  const failed = assert.rejects(sending);
  const buffer = new Uint8Array(65_536);
  (async () => {
    while (await end.read(buffer) !== null);
  })().catch(() => {});
  let isClosed = false;
  failed.then(() => isClosed = true);
  while (!isClosed) {
    run.advance(LIMITS.firstByte / 4);
    await turn();
  }
  await failed;
});

Deno.test("TcpFront sets no timer while it has no connections", async () => {
  await using run = startFront();
  assert.equal(run.clock.nextDue, undefined);
  await run.connect();
  while (run.front.connections === 0) await turn();
  assert.notEqual(run.clock.nextDue, undefined);
  run.advance(3 * LIMITS.firstByte);
  while (run.front.connections > 0) await turn();
  run.advance(LIMITS.firstByte);
  assert.equal(run.clock.nextDue, undefined);
});

Deno.test("TcpFront keeps a connection that the server refuses, and gives it to the next server", async () => {
  await using run = startFront();
  const ended = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const next = run.front.target;
  run.front.target = {
    ...targetOf(ended),
    onRefused() {
      run.front.isReopening = true;
      run.front.target = undefined;
    },
  };
  ended.close();
  const client = await run.connect();
  while (!run.front.isReopening) await turn();
  run.front.target = next;
  await client.send("welcome");
  assert.equal(await client.read(), "welcome");
});

Deno.test("TcpFront gives a connection that the server resets before its first byte to the next server, with the bytes of the client", async () => {
  await using run = startFront();
  const next = run.front.target;
  const ended = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const target = { ...targetOf(ended), onRefused: () => void (run.front.target = next) };
  run.front.target = target;
  const client = await run.connect();
  await client.write("hello");
  while (target.callers.size === 0) await turn();
  // Resets connections that were not accepted, like a server without free descriptors.
  ended.close();
  const buffer = new Uint8Array(100);
  const size = await (await client.serverEnd()).read(buffer);
  assert.equal(new TextDecoder().decode(buffer.subarray(0, size!)), "hello");
  await client.send("welcome");
  assert.equal(await client.read(), "welcome");
  assert.equal(run.front.connections, 1);
});

Deno.test("TcpFront closes a connection that the server refuses if no other server is expected", async () => {
  await using run = startFront();
  const ended = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  run.front.target = targetOf(ended);
  ended.close();
  const client = await run.connect();
  assert.equal(await client.read(), undefined);
});

Deno.test("releaseDescriptors closes connections of the client with the most, and keeps a waiting one of another client", async () => {
  await using run = startFront();
  const next = run.front.target;
  run.front.isReopening = true;
  run.front.target = undefined;
  await using idle = await attack(run.front.port, { kind: "plain", count: 6, address: "127.0.0.2" });
  assert.equal(idle.results.length, 6);
  const client = await run.connect();
  while (run.front.waiting < 7) await turn();
  run.front.releaseDescriptors();
  assert.equal(run.front.waiting, 1);
  run.front.target = next;
  await client.send("welcome");
  assert.equal(await client.read(), "welcome");
});

function targetOf(server: Deno.TcpListener): Target {
  return { hostname: "127.0.0.1", port: server.addr.port, connections: 0, callers: new Map() };
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* already closed */ }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
