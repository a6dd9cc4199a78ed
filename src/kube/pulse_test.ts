import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { elapsedOnly } from "../base/_elapsed_clock.ts";
import { VirtualClock } from "../base/virtual_clock.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { Client } from "./client.ts";
import { Pulse } from "./pulse.ts";

/**
 * Starts a Pulse for a connection that the test can make dead. Requests on a dead connection get no
 * response until a reset.
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
  const pulse = new Pulse({
    connection,
    clock: elapsedOnly(clock),
    userAgent: "me",
    onDead: ({ message }) => reported.push(message),
  });
  const stop = new AbortController();
  const ended = pulse.run(stop.signal);
  return {
    client: new Client(connection, { clock, pulse }),
    sent,
    reported,
    pulse,
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

Deno.test("Pulse sends a probe after 4 s of silence, and only then", async () => {
  await using line = start();
  for (let i = 0; i < 5; i++) {
    await line.pass(3000);
    await line.client.get(ConfigMap, "a", { namespace: "default" });
  }
  assert.equal(line.sent.includes(PROBE), false);
  await line.pass(12_000);
  assert.deepEqual(line.sent.filter((path) => path === PROBE).length, 3);
  assert.deepEqual(line.reported, []);
});

Deno.test("Pulse accepts a 403 as a response", async () => {
  await using line = start();
  line.respondWith(403);
  await line.pass(20_000);
  assert.equal(line.pulse.deaths, 0);
});

Deno.test("Pulse resets a dead connection within 10 s: pending requests and watches fail, the next request succeeds", async () => {
  await using line = start();
  const watch = line.client.watch(ConfigMap, { namespace: "default", resourceVersion: "5" });
  const watched = watch.next().then(() => "ended", (error: Error) => error.message);
  await line.pass(1000);
  line.die();
  const read = line.client.get(ConfigMap, "a", { namespace: "default" }).then(() => "read", (error) => error.message);
  await line.pass(10_000);
  assert.equal(await read, `Cannot get ConfigMap "default/a": no response from "http://cluster": ${DEAD}`);
  assert.equal(await watched, `Cannot watch ConfigMap "default": ${DEAD}`);
  assert.deepEqual(line.reported, [DEAD]);
  assert.equal(line.sent.filter((path) => path === "reset").length, 1);
  await line.client.get(ConfigMap, "a", { namespace: "default" });
});

Deno.test("Pulse also fails the pending requests of a fenced client", async () => {
  await using line = start();
  line.die();
  const fenced = line.client.fenced(() => {});
  const read = fenced.get(ConfigMap, "a", { namespace: "default" }).then(() => "read", (error) => error.message);
  await line.pass(10_000);
  assert.equal(await read, `Cannot get ConfigMap "default/a": no response from "http://cluster": ${DEAD}`);
});

Deno.test("Pulse fails requests whose response body never ends", async (t) => {
  for (const status of [200, 500]) {
    await t.step(`with status ${status}`, async () => {
      await using line = start();
      line.respondWith(status);
      line.endBodies(false);
      const read = line.client.get(ConfigMap, "a", { namespace: "default" }).then(() => "read", ({ code }) => code);
      await line.pass(1000);
      line.die();
      await line.pass(10_000);
      assert.equal(await Promise.race([read, Promise.resolve("pending")]), "InvalidResponse");
    });
  }
});

Deno.test("Pulse calls onDead once for each outage", async () => {
  await using line = start();
  line.die(true);
  await line.pass(60_000);
  assert.equal(line.reported.length, 1);
  assert(line.pulse.deaths >= 6, String(line.pulse.deaths));
  line.die();
  await line.pass(20_000);
  line.die();
  await line.pass(20_000);
  assert.equal(line.reported.length, 2);
});

Deno.test("Pulse sends no probe if the connection cannot be reset", async () => {
  await using line = start({ resets: false });
  await line.pass(60_000);
  assert.deepEqual(line.sent, []);
});
