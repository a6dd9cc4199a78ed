import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { elapsedOnly } from "../base/_elapsed_clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { Client } from "./client.ts";
import { ConnectionProbe } from "./connection_probe.ts";

/**
 * Starts a ConnectionProbe for a connection that the test can make dead. Requests on a dead
 * connection get no response until a reset.
 */
function start({ resets = true } = {}) {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const reported: string[] = [];
  let isDead = false;
  let isFixedByReset = true;
  let status = 200;
  let isBodyEndless = false;
  const connection = {
    url: "http://cluster",
    fetch: (request: Request): Promise<Response> => {
      const path = request.url.slice("http://cluster".length);
      sent.push(path);
      if (isDead) {
        return new Promise((_, reject) =>
          request.signal.addEventListener("abort", () => reject(request.signal.reason))
        );
      }
      if (isBodyEndless) return Promise.resolve(new Response(new ReadableStream(), { status }));
      if (!path.includes("watch=true")) return Promise.resolve(Response.json({ path }, { status }));
      return Promise.resolve(new Response(new ReadableStream()));
    },
    ...(resets
      ? {
        reset() {
          sent.push("reset");
          if (isFixedByReset) isDead = false;
        },
      }
      : {}),
    close() {},
  };
  const probe = new ConnectionProbe({
    connection,
    clock: elapsedOnly(clock),
    userAgent: "me",
    onDead: ({ message }) => reported.push(message),
  });
  const stop = new AbortController();
  const ended = probe.run(stop.signal);
  return {
    client: new Client(connection, { clock, probe }),
    sent,
    reported,
    probe,
    die: (isPermanent = false) => {
      isDead = true;
      isFixedByReset = !isPermanent;
    },
    respondWith: (code: number) => void (status = code),
    endBodies: (ends: boolean) => void (isBodyEndless = !ends),
    async pass(milliseconds: number): Promise<void> {
      const until = clock.now() + milliseconds;
      await settle();
      while (clock.step(until)) await settle();
      await settle();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

const PROBE = "/livez?exclude=etcd";
const DEAD = "the connection is dead: no bytes and no response to a probe for 8 s";

Deno.test("ConnectionProbe sends a probe after 4 s of silence, and only then", async () => {
  await using fixture = start();
  for (let i = 0; i < 5; i++) {
    await fixture.pass(3000);
    await fixture.client.get(ConfigMap, "a", { namespace: "default" });
  }
  assert.equal(fixture.sent.includes(PROBE), false);
  await fixture.pass(12_000);
  assert.deepEqual(fixture.sent.filter((path) => path === PROBE).length, 3);
  assert.deepEqual(fixture.reported, []);
});

Deno.test("ConnectionProbe accepts a 403 as a response", async () => {
  await using fixture = start();
  fixture.respondWith(403);
  await fixture.pass(20_000);
  assert.equal(fixture.probe.deadConnections, 0);
});

Deno.test("ConnectionProbe resets a dead connection within 10 s: pending requests and watches fail, the next request succeeds", async () => {
  await using fixture = start();
  const watch = fixture.client.watch(ConfigMap, { namespace: "default", resourceVersion: "5" });
  const watched = watch.next().then(() => "ended", (error: Error) => error.message);
  await fixture.pass(1000);
  fixture.die();
  const read = fixture.client.get(ConfigMap, "a", { namespace: "default" }).then(
    () => "read",
    (error) => error.message,
  );
  await fixture.pass(10_000);
  assert.equal(await read, `Cannot get ConfigMap "default/a": no response from "http://cluster": ${DEAD}`);
  assert.equal(await watched, `Cannot watch ConfigMap "default": ${DEAD}`);
  assert.deepEqual(fixture.reported, [DEAD]);
  assert.equal(fixture.sent.filter((path) => path === "reset").length, 1);
  await fixture.client.get(ConfigMap, "a", { namespace: "default" });
});

Deno.test("ConnectionProbe also fails the pending requests of a fenced client", async () => {
  await using fixture = start();
  fixture.die();
  const fenced = fixture.client.fenced(() => {});
  const read = fenced.get(ConfigMap, "a", { namespace: "default" }).then(() => "read", (error) => error.message);
  await fixture.pass(10_000);
  assert.equal(await read, `Cannot get ConfigMap "default/a": no response from "http://cluster": ${DEAD}`);
});

Deno.test("ConnectionProbe fails requests whose response body never ends", async (t) => {
  for (const status of [200, 500]) {
    await t.step(`with status ${status}`, async () => {
      await using fixture = start();
      fixture.respondWith(status);
      fixture.endBodies(false);
      const read = fixture.client.get(ConfigMap, "a", { namespace: "default" }).then(() => "read", ({ code }) => code);
      await fixture.pass(1000);
      fixture.die();
      await fixture.pass(10_000);
      assert.equal(await Promise.race([read, Promise.resolve("pending")]), "InvalidResponse");
    });
  }
});

Deno.test("ConnectionProbe calls onDead once for each outage", async () => {
  await using fixture = start();
  fixture.die(true);
  await fixture.pass(60_000);
  assert.equal(fixture.reported.length, 1);
  assert(fixture.probe.deadConnections >= 6, String(fixture.probe.deadConnections));
  fixture.die();
  await fixture.pass(20_000);
  fixture.die();
  await fixture.pass(20_000);
  assert.equal(fixture.reported.length, 2);
});

Deno.test("ConnectionProbe sends no probe if the connection cannot be reset", async () => {
  await using fixture = start({ resets: false });
  await fixture.pass(60_000);
  assert.deepEqual(fixture.sent, []);
});
