/** The port that is never closed: which connections it admits, and which it closes, by a clock that is moved. */
import assert from "node:assert/strict";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import type { Caller } from "../../src/runtime/webhooks/caller.ts";
import { attack } from "../_attacker.ts";
import { TcpFront } from "../../src/runtime/webhooks/tcp_front.ts";

const LIMITS = { firstByte: 1000, silence: 5000 };

/** A front, before a server that says what it is told to say, on each of its connections. */
function fronted({ hello = "", ...options }: { readonly connections?: number; readonly hello?: string } = {}) {
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
  const target = { hostname: "127.0.0.1", port: inner.addr.port, connections: 0, callers: new Map<number, Caller>() };
  front.target = target;
  let connected = 0;
  const connect = async () => {
    const own = connected++;
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: front.port });
    stack.defer(() => close(connection));
    const served = async (): Promise<Deno.TcpConn> => {
      while (ends.length <= own) await breath();
      return ends[own]!;
    };
    return {
      close: () => close(connection),
      /** The server's end. */
      served,
      /** What the handler reports its requests to. */
      caller: async (): Promise<Caller> => target.callers.get((await served()).remoteAddr.port)!,
      /** What comes; nothing when it is closed. */
      async read(): Promise<string | undefined> {
        const buffer = new Uint8Array(100);
        const size = await connection.read(buffer).catch(() => null);
        return size === null ? undefined : new TextDecoder().decode(buffer.subarray(0, size));
      },
      write: (text: string) => connection.write(new TextEncoder().encode(text)),
      /** The server says something. */
      async told(text: string): Promise<void> {
        await (await served()).write(new TextEncoder().encode(text));
      },
    };
  };
  const pass = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  return { front, clock, ends, connect, pass, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test("TcpFront closes a connection on which its server said nothing in time, whatever the client says", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.write("hello?");
  while (around.front.connections === 0) await breath();
  around.pass(LIMITS.firstByte);
  assert.equal(around.front.connections, 1);
  await client.write("hello?");
  around.pass(LIMITS.firstByte / 2);
  assert.equal(await client.read(), undefined);
});

Deno.test("TcpFront keeps a connection on which its server spoke, until it has been silent for longer", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.told("one");
  assert.equal(await client.read(), "one");
  around.pass(LIMITS.silence);
  await client.told("two");
  assert.equal(await client.read(), "two");
  around.pass(LIMITS.silence);
  await client.told("three");
  assert.equal(await client.read(), "three");
  around.pass(LIMITS.silence + LIMITS.firstByte);
  assert.equal(await client.read(), undefined);
});

Deno.test("a connection that comes when a TcpFront is full takes the place of one that was idle for long", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.told("one");
  assert.equal(await one.read(), "one");
  around.pass(LIMITS.silence / 2);
  const other = await around.connect();
  await other.told("other");
  assert.equal(await other.read(), "other");
  assert.equal(await one.read(), undefined);
  assert.equal(around.front.connections, 1);
});

Deno.test("a connection that comes when a TcpFront is full waits while those before it are young", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.told("one");
  assert.equal(await one.read(), "one");
  const other = await around.connect();
  await other.write("hello?");
  const answer = other.told("other");
  (await one.served()).close();
  await answer;
  assert.equal(await other.read(), "other");
});

Deno.test("a connection that waits for a place in a TcpFront is given up when that takes too long", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.told("one");
  (await one.caller()).began().answerBegan();
  const other = await around.connect();
  const read = other.read();
  let isOver = false;
  read.finally(() => isOver = true);
  while (!isOver) {
    around.pass(LIMITS.firstByte / 4);
    await breath();
  }
  assert.equal(await read, undefined);
  assert.equal(await one.read(), "one");
});

Deno.test("a connection whose review is being answered stays open, however many others come", async () => {
  await using around = fronted({ connections: 2 });
  const [busy, idle] = [await around.connect(), await around.connect()];
  for (const each of [busy, idle]) {
    await each.told("hello");
    assert.equal(await each.read(), "hello");
  }
  const exchange = (await busy.caller()).began();
  exchange.bodyBegan();
  exchange.bodyEnded();
  exchange.answerBegan();
  for (let i = 0; i < 5; i++) {
    around.pass(LIMITS.silence / 2);
    await busy.told("more");
    assert.equal(await busy.read(), "more");
    const other = await around.connect();
    await other.told("other");
    assert.equal(await other.read(), "other");
  }
  assert.equal(await idle.read(), undefined);
  exchange.ended("answer".length);
  await busy.told("answer");
  assert.equal(await busy.read(), "answer");
});

Deno.test("a client that resets its connection releases it at once, and the one behind it", async () => {
  await using around = fronted({ hello: "x" });
  await using reset = await attack(around.front.port, { kind: "reset", count: 100 });
  assert.deepEqual([...new Set(reset.results)], ["done"]);
  while (around.front.connections > 0) await breath();
  assert.equal(around.ends.length, 100);
  for (const end of around.ends) assert.equal(await end.read(new Uint8Array(1)).catch(() => null), null);
});

Deno.test("a client that no request of is being read may send a few records, and no more until one is", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.told("hello");
  const end = await client.served();
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
  while (received <= 16_384) await breath();
  // Until nothing more comes.
  for (let still = 0, last = -1; still < 50; still = received === last ? still + 1 : 0) {
    last = received;
    await breath();
  }
  assert(received > 16_384 && received < 100_000, `${received} bytes`);
  exchange.bodyBegan();
  const sent = await sending;
  while (received < sent) await breath();
  client.close();
  await receiving;
});

Deno.test("a client that sends much and no request is closed", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.told("hello");
  assert.equal(await client.read(), "hello");
  const end = await client.served();
  const sending = (async () => {
    while (true) await client.write("x".repeat(65_536));
  })();
  const failed = assert.rejects(sending);
  const buffer = new Uint8Array(65_536);
  (async () => {
    while (await end.read(buffer) !== null);
  })().catch(() => {});
  let isOver = false;
  failed.then(() => isOver = true);
  while (!isOver) {
    around.pass(LIMITS.firstByte / 4);
    await breath();
  }
  await failed;
});

Deno.test("TcpFront sets no timer while nobody is connected", async () => {
  await using around = fronted();
  assert.equal(around.clock.nextDue, undefined);
  await around.connect();
  while (around.front.connections === 0) await breath();
  assert.notEqual(around.clock.nextDue, undefined);
  around.pass(3 * LIMITS.firstByte);
  while (around.front.connections > 0) await breath();
  around.pass(LIMITS.firstByte);
  assert.equal(around.clock.nextDue, undefined);
});

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* it was closed before */ }
}

function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
