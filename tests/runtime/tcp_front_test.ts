/** TcpFront: which connections it admits and closes, with a virtual clock. */
import assert from "node:assert/strict";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import type { Caller } from "../../src/runtime/webhooks/caller.ts";
import { attack } from "../fixtures/attacker.ts";
import type { Target } from "../../src/runtime/webhooks/pipe.ts";
import { TcpFront } from "../../src/runtime/webhooks/tcp_front.ts";

const LIMITS = { firstByte: 1000, silence: 5000 };

/** Starts a front, and a server that sends `hello` on each connection. */
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
  const target = targetOf(inner);
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
      /** Returns the server's end. */
      served,
      /** The object that the handler reports its requests to. */
      caller: async (): Promise<Caller> => target.callers.get((await served()).remoteAddr.port)!,
      /** Returns the next bytes, or `undefined` if the connection is closed. */
      async read(): Promise<string | undefined> {
        const buffer = new Uint8Array(100);
        const size = await connection.read(buffer).catch(() => null);
        return size === null ? undefined : new TextDecoder().decode(buffer.subarray(0, size));
      },
      write: (text: string) => connection.write(new TextEncoder().encode(text)),
      /** Sends bytes from the server. */
      async send(text: string): Promise<void> {
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

Deno.test("TcpFront closes a connection on which the server sends nothing in time, even if the client sends", async () => {
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

Deno.test("TcpFront keeps a connection until the server has been silent for too long", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.send("one");
  assert.equal(await client.read(), "one");
  around.pass(LIMITS.silence);
  await client.send("two");
  assert.equal(await client.read(), "two");
  around.pass(LIMITS.silence);
  await client.send("three");
  assert.equal(await client.read(), "three");
  around.pass(LIMITS.silence + LIMITS.firstByte);
  assert.equal(await client.read(), undefined);
});

Deno.test("a new connection to a full TcpFront replaces one that was idle for long", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.send("one");
  assert.equal(await one.read(), "one");
  around.pass(LIMITS.silence / 2);
  const other = await around.connect();
  await other.send("other");
  assert.equal(await other.read(), "other");
  assert.equal(await one.read(), undefined);
  assert.equal(around.front.connections, 1);
});

Deno.test("a new connection to a full TcpFront waits while the others are young", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.send("one");
  assert.equal(await one.read(), "one");
  const other = await around.connect();
  await other.write("hello?");
  const answer = other.send("other");
  (await one.served()).close();
  await answer;
  assert.equal(await other.read(), "other");
});

Deno.test("a connection that waits too long for a place in a TcpFront is closed", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.send("one");
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

Deno.test("a connection whose review is being answered stays open, however many others are opened", async () => {
  await using around = fronted({ connections: 2 });
  const [busy, idle] = [await around.connect(), await around.connect()];
  for (const each of [busy, idle]) {
    await each.send("hello");
    assert.equal(await each.read(), "hello");
  }
  const exchange = (await busy.caller()).began();
  exchange.bodyBegan();
  exchange.bodyEnded();
  exchange.answerBegan();
  for (let i = 0; i < 5; i++) {
    around.pass(LIMITS.silence / 2);
    await busy.send("more");
    assert.equal(await busy.read(), "more");
    const other = await around.connect();
    await other.send("other");
    assert.equal(await other.read(), "other");
  }
  assert.equal(await idle.read(), undefined);
  exchange.ended("answer".length);
  await busy.send("answer");
  assert.equal(await busy.read(), "answer");
});

Deno.test("a reset client connection is released at once, with the one behind it", async () => {
  await using around = fronted({ hello: "x" });
  await using reset = await attack(around.front.port, { kind: "reset", count: 100 });
  assert.deepEqual([...new Set(reset.results)], ["done"]);
  while (around.front.connections > 0) await breath();
  assert.equal(around.ends.length, 100);
  for (const end of around.ends) assert.equal(await end.read(new Uint8Array(1)).catch(() => null), null);
});

Deno.test("a client may send only a few records until one of its requests is read", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.send("hello");
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
  // Waits until no more bytes arrive.
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

Deno.test("a connection with many bytes and no request is closed", async () => {
  await using around = fronted();
  const client = await around.connect();
  await client.send("hello");
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

Deno.test("TcpFront sets no timer while it has no connections", async () => {
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

Deno.test("a connection that the server refuses waits for the next server", async () => {
  await using around = fronted();
  const ended = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const next = around.front.target;
  around.front.target = {
    ...targetOf(ended),
    onRefused() {
      around.front.isReopening = true;
      around.front.target = undefined;
    },
  };
  ended.close();
  const client = await around.connect();
  while (!around.front.isReopening) await breath();
  around.front.target = next;
  await client.send("welcome");
  assert.equal(await client.read(), "welcome");
});

Deno.test("a connection that the server resets before its first byte is given to the next server, with what it sent", async () => {
  await using around = fronted();
  const next = around.front.target;
  const ended = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const target = { ...targetOf(ended), onRefused: () => void (around.front.target = next) };
  around.front.target = target;
  const client = await around.connect();
  await client.write("hello");
  while (target.callers.size === 0) await breath();
  // Like a server without descriptors: this resets connections that were not accepted.
  ended.close();
  const buffer = new Uint8Array(100);
  const size = await (await client.served()).read(buffer);
  assert.equal(new TextDecoder().decode(buffer.subarray(0, size!)), "hello");
  await client.send("welcome");
  assert.equal(await client.read(), "welcome");
  assert.equal(around.front.connections, 1);
});

Deno.test("a connection that the server refuses is closed if no other server is expected", async () => {
  await using around = fronted();
  const ended = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  around.front.target = targetOf(ended);
  ended.close();
  const client = await around.connect();
  assert.equal(await client.read(), undefined);
});

Deno.test("releaseDescriptors closes connections of the client that holds most, and none of another that waits", async () => {
  await using around = fronted();
  const next = around.front.target;
  around.front.isReopening = true;
  around.front.target = undefined;
  await using idle = await attack(around.front.port, { kind: "plain", count: 6, address: "127.0.0.2" });
  assert.equal(idle.results.length, 6);
  const client = await around.connect();
  while (around.front.waiting < 7) await breath();
  around.front.releaseDescriptors();
  assert.equal(around.front.waiting, 1);
  around.front.target = next;
  await client.send("welcome");
  assert.equal(await client.read(), "welcome");
});

function targetOf(server: Deno.TcpListener): Target {
  return { hostname: "127.0.0.1", port: server.addr.port, connections: 0, callers: new Map() };
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* it was closed before */ }
}

function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
