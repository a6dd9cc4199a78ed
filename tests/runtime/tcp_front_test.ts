/** The port that is never closed: whom it lets in, and whom it closes for silence, by a clock that is moved. */
import assert from "node:assert/strict";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { TcpFront } from "../../src/runtime/webhooks/tcp_front.ts";

const LIMITS = { firstByte: 1000, silence: 5000 };

/** A front, before a server that says what it is told to say, on each of its connections. */
function fronted(options: { readonly connections?: number } = {}) {
  const stack = new AsyncDisposableStack();
  const clock = new VirtualClock();
  const inner = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ends: Deno.TcpConn[] = [];
  const accepting = (async () => {
    for await (const end of inner) ends.push(end);
  })();
  stack.defer(async () => {
    inner.close();
    await accepting;
    for (const end of ends) end.close();
  });
  const front = stack.use(new TcpFront({ hostname: "127.0.0.1", port: 0, clock, ...LIMITS, ...options }));
  front.target = { hostname: "127.0.0.1", port: inner.addr.port, connections: 0 };
  const connect = async () => {
    const before = ends.length;
    const connection = stack.use(await Deno.connect({ hostname: "127.0.0.1", port: front.port }));
    return {
      /** What comes; nothing when it is closed. */
      async read(): Promise<string | undefined> {
        const buffer = new Uint8Array(100);
        const size = await connection.read(buffer).catch(() => null);
        return size === null ? undefined : new TextDecoder().decode(buffer.subarray(0, size));
      },
      write: (text: string) => connection.write(new TextEncoder().encode(text)),
      /** The server says something. */
      async told(text: string): Promise<void> {
        while (ends.length <= before) await breath();
        await ends[before]!.write(new TextEncoder().encode(text));
      },
    };
  };
  const pass = (milliseconds: number) => {
    const until = clock.now() + milliseconds;
    while (clock.step(until));
  };
  return { front, clock, connect, pass, [Symbol.asyncDispose]: () => stack.disposeAsync() };
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

Deno.test("TcpFront closes what comes beyond its number of connections, and takes others in when one has ended", async () => {
  await using around = fronted({ connections: 1 });
  const one = await around.connect();
  await one.told("one");
  assert.equal(await one.read(), "one");
  assert.equal(await (await around.connect()).read(), undefined);
  around.pass(LIMITS.silence + LIMITS.firstByte);
  assert.equal(await one.read(), undefined);
  while (around.front.connections > 0) await breath();
  const other = await around.connect();
  await other.write("hello?");
  while (around.front.connections === 0) await breath();
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

function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
