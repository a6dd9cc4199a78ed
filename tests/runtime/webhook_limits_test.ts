/**
 * Limits of webhooks in virtual time: concurrent reviews, memory, log lines, and fair shares of
 * clients.
 */
import assert from "node:assert/strict";
import { webhook } from "@op/sdk";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { type Caller, LOCAL_CALLER } from "../../src/runtime/webhooks/caller.ts";
import type { WebhookHandlerOptions, WebhookLimits } from "../../src/runtime/webhooks/handler.ts";
import { Note, noteRules, PATH, review } from "../fixtures/reviews.ts";
import { advance, webhookHandler } from "./_webhooks.ts";

const MIB = 2 ** 20;

/**
 * Creates a handler of reviews. Its webhook function returns when the test calls `completeNext`.
 */
function startHandler(limits: WebhookLimits, options: Partial<WebhookHandlerOptions> = {}) {
  const clock = new VirtualClock();
  const started: string[] = [];
  const gates: (() => void)[] = [];
  const noteRules = webhook(Note, {
    async validate({ spec }) {
      started.push(spec.text.slice(0, 20));
      await new Promise<void>((resolve) => gates.push(resolve));
    },
  });
  const { fetch } = webhookHandler({ noteRules }, { clock, limits, isServed: true, ...options });
  return {
    clock,
    fetch,
    /** The first 20 characters of each note that reached the webhook function. */
    started,
    /** Completes the review that reached the webhook function first. */
    completeNext: () => gates.shift()!(),
  };
}

function client(address: string): Caller {
  return { ...LOCAL_CALLER, address };
}

function request(body: BodyInit, length: number, timeout = 10): Request {
  const headers = { "content-type": "application/json", "content-length": String(length) };
  return new Request(`https://notes${PATH}?timeout=${timeout}s`, { method: "POST", headers, body });
}

function post(text = "hello"): Request {
  const body = JSON.stringify(review(text));
  return request(body, body.length);
}

/** Creates a request whose body never arrives. */
function withoutBody(length: number, timeout = 10): Request & { readonly wasRead: boolean } {
  let wasRead = false;
  const body = new ReadableStream<Uint8Array>({ pull: () => (wasRead = true, new Promise(() => {})) }, {
    highWaterMark: 0,
  });
  return Object.defineProperty(request(body, length, timeout), "wasRead", { get: () => wasRead }) as never;
}

Deno.test("requests whose body has not arrived do not count as reviews", async () => {
  const { fetch, started, completeNext, clock } = startHandler({ inFlight: 1 });
  const slow = Array.from({ length: 500 }, () => fetch(withoutBody(1000), client("slow")));
  const response = fetch(post(), client("slow"));
  while (started.length === 0) await turn();
  completeNext();
  assert.equal((await response).status, 200);
  advance(clock, 5000);
  assert.deepEqual(new Set((await Promise.all(slow)).map(({ status }) => status)), new Set([408]));
});

Deno.test("a body that does not arrive within 5 s ends its request with 408 and closes the connection, whatever the client's timeout", async () => {
  for (const length of [1000, 30_000, 300_000]) {
    const { fetch, clock } = startHandler({});
    const response = fetch(withoutBody(length, 30));
    await turn();
    advance(clock, 4999);
    advance(clock, 1);
    const { status, headers } = await response;
    assert.deepEqual([status, headers.get("connection")], [408, "close"]);
  }
});

Deno.test("reviews beyond the limit wait, and all are completed", async () => {
  const { fetch, started, completeNext } = startHandler({ inFlight: 2 });
  const responses = Array.from({ length: 10 }, (_, i) => fetch(post(`${i}`)));
  for (let completed = 0; completed < 10; completed++) {
    while (started.length < Math.min(completed + 2, 10)) await turn();
    // Gives a third review time to start.
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(started.length, Math.min(completed + 2, 10));
    completeNext();
  }
  for (const response of responses) assert.equal((await response).status, 200);
});

Deno.test("a waiting review ends with 504 at the timeout of its client", async () => {
  const { fetch, started, clock } = startHandler({ inFlight: 1 });
  const [first, second] = [fetch(post("first")), fetch(post("second"))];
  while (started.length === 0) await turn();
  advance(clock, 9000);
  assert.deepEqual([(await first).status, (await second).status], [504, 504]);
  assert.deepEqual(started, ["first"]);
});

Deno.test("the client with the fewest running reviews is next", async () => {
  const { fetch, started, completeNext } = startHandler({ inFlight: 2 });
  const greedy = Array.from({ length: 20 }, () => fetch(post("greedy"), client("10.0.0.1")));
  while (started.length < 2) await turn();
  const modest = fetch(post("modest"), client("10.0.0.2"));
  await turn();
  completeNext();
  while (started.length < 3) await turn();
  assert.deepEqual(started, ["greedy", "greedy", "modest"]);
  for (let i = 1; i < 21; i++) {
    completeNext();
    while (started.length < Math.min(i + 3, 21)) await turn();
  }
  for (const response of [...greedy, modest]) assert.equal((await response).status, 200);
});

Deno.test("large bodies are read within their memory limit, and others wait unread", async () => {
  const { fetch, clock } = startHandler({ memoryBytes: 10 * MIB });
  const [first, second] = [withoutBody(800_000), withoutBody(800_000)];
  const responses = [fetch(first), fetch(second)];
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual([first.wasRead, second.wasRead], [true, false]);
  advance(clock, 5000);
  assert.equal((await responses[0]!).status, 408);
  while (!second.wasRead) await turn();
  // The time limit of 5 s starts when the body is read.
  advance(clock, 4000);
  assert.equal((await responses[1]!).status, 504);
});

Deno.test("a body is rejected unread if too many wait, or if it is larger than the memory limit", async () => {
  const { fetch } = startHandler({ memoryBytes: 1 * MIB });
  const large = withoutBody(200_000);
  const response = await fetch(large);
  assert.deepEqual([response.status, large.wasRead], [413, false]);
  assert.match(await response.text(), /Raise the operator's memory limit$/);

  for (let i = 0; i < 66; i++) fetch(withoutBody(100_000), client("10.0.0.1"));
  await turn();
  const next = withoutBody(100_000);
  const rejected = await fetch(next, client("10.0.0.1"));
  assert.deepEqual([rejected.status, rejected.headers.get("retry-after"), next.wasRead], [429, "1", false]);
  // Another client may still wait.
  const other = Promise.race([fetch(withoutBody(100_000), client("10.0.0.2")), turn()]);
  assert.equal(await other, undefined);
});

Deno.test("a review whose objects need more memory than the limit is rejected, whatever its length", async () => {
  const { fetch, started, completeNext } = startHandler({ memoryBytes: 16 * MIB });
  const wide = review();
  Object.assign(wide.request.object, { data: Array(300_000).fill({}) });
  const body = JSON.stringify(wide);
  const response = await fetch(request(body, body.length));
  assert.equal(response.status, 413);
  assert.match(await response.text(), /^the review needs \d+ MiB of memory, but reviews may use only 12 MiB\. Raise/);
  const plain = fetch(post("x".repeat(body.length)));
  while (started.length === 0) await turn();
  completeNext();
  assert.equal((await plain).status, 200);
});

Deno.test("the memory limit bounds how many large reviews run at once", async () => {
  const { fetch, started, completeNext } = startHandler({ memoryBytes: 10 * MIB });
  const responses = Array.from({ length: 8 }, (_, i) => fetch(post(`${i}`.padEnd(500_000, "x"))));
  for (let completed = 0; completed < 8; completed++) {
    while (started.length === completed) await turn();
    for (let i = 0; i < 20; i++) await turn();
    assert(started.length - completed <= 4, `${started.length - completed} at once`);
    completeNext();
  }
  for (const response of responses) assert.equal((await response).status, 200);
});

Deno.test("log lines that a client can cause are limited, and all are counted in metrics", async () => {
  const lines: [message: string, fields: Record<string, unknown>][] = [];
  const record = (message: string, fields: Record<string, unknown> = {}) => void lines.push([message, fields]);
  const log = { debug() {}, info() {}, warn: record, error: record, with: () => log, isDebug: false };
  const metrics = new Metrics();
  const clock = new VirtualClock();
  const { fetch } = webhookHandler({ noteRules }, { clock, metrics, log });
  const failReview = async () => {
    const malformed = review();
    Object.assign(malformed.request.object, { spec: null });
    const body = JSON.stringify(malformed);
    assert.equal((await fetch(request(body, body.length))).status, 500);
  };
  for (let i = 0; i < 200; i++) await failReview();
  assert.equal(lines.length, 10);
  assert.deepEqual(new Set(lines.map(([message]) => message)), new Set(["Webhook failed"]));
  advance(clock, 60_000);
  await failReview();
  assert.equal(lines.length, 11);
  assert.equal(lines.at(-1)![1].suppressed, 190);
  assert.match(
    await metrics.text(),
    /^controller_runtime_webhook_panics_total\{webhook="\/validate\/note-rules"\} 201$/m,
  );
});

function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
