/** Limits of webhooks: concurrent reviews, memory, and fair shares of clients, with a virtual clock. */
import assert from "node:assert/strict";
import { webhook } from "@op/sdk";
import { VirtualClock } from "../../src/base/virtual_clock.ts";
import { Metrics } from "../../src/runtime/metrics.ts";
import { type Caller, LOCAL_CALLER } from "../../src/runtime/webhooks/caller.ts";
import type { WebhookHandlerOptions, WebhookLimits } from "../../src/runtime/webhooks/handler.ts";
import { Note, noteRules, PATH, review } from "../fixtures/reviews.ts";
import { webhookHandler } from "./_webhooks.ts";

const MIB = 2 ** 20;

/** Webhooks whose function returns when the test resolves it. */
function held(limits: WebhookLimits, options: Partial<WebhookHandlerOptions> = {}) {
  const clock = new VirtualClock();
  const begun: string[] = [];
  const gates: (() => void)[] = [];
  const noteRules = webhook(Note, {
    async validate({ spec }) {
      begun.push(spec.text.slice(0, 20));
      await new Promise<void>((resolve) => gates.push(resolve));
    },
  });
  const { fetch } = webhookHandler({ noteRules }, { clock, limits, isServed: true, ...options });
  return {
    clock,
    fetch,
    /** Of the reviews that reached the function, the beginnings of their notes. */
    begun,
    /** Lets the oldest review that reached the function be answered. */
    answerNext: () => gates.shift()!(),
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

/** A body that never arrives. */
function silent(length: number, timeout = 10): Request & { readonly wasRead: boolean } {
  let wasRead = false;
  const body = new ReadableStream<Uint8Array>({ pull: () => (wasRead = true, new Promise(() => {})) }, {
    highWaterMark: 0,
  });
  return Object.defineProperty(request(body, length, timeout), "wasRead", { get: () => wasRead }) as never;
}

Deno.test("requests whose body has not arrived do not count as reviews", async () => {
  const { fetch, begun, answerNext, clock } = held({ inFlight: 1 });
  const slow = Array.from({ length: 500 }, () => fetch(silent(1000), client("slow")));
  const answer = fetch(post(), client("slow"));
  while (begun.length === 0) await breath();
  answerNext();
  assert.equal((await answer).status, 200);
  pass(clock, 5000);
  assert.deepEqual(new Set((await Promise.all(slow)).map(({ status }) => status)), new Set([408]));
});

Deno.test("a body that does not arrive within 5 s ends its request and connection, whatever the client's timeout", async () => {
  for (const length of [1000, 30_000, 300_000]) {
    const { fetch, clock } = held({});
    const answer = fetch(silent(length, 30));
    await breath();
    pass(clock, 4999);
    pass(clock, 1);
    const { status, headers } = await answer;
    assert.deepEqual([status, headers.get("connection")], [408, "close"]);
  }
});

Deno.test("reviews beyond the limit wait, and all are answered", async () => {
  const { fetch, begun, answerNext } = held({ inFlight: 2 });
  const answers = Array.from({ length: 10 }, (_, i) => fetch(post(`${i}`)));
  for (let answered = 0; answered < 10; answered++) {
    while (begun.length < Math.min(answered + 2, 10)) await breath();
    // Time for a third to begin, if one did.
    for (let i = 0; i < 5; i++) await breath();
    assert.equal(begun.length, Math.min(answered + 2, 10));
    answerNext();
  }
  for (const answer of answers) assert.equal((await answer).status, 200);
});

Deno.test("a waiting review ends when its client gives up", async () => {
  const { fetch, begun, clock } = held({ inFlight: 1 });
  const [first, second] = [fetch(post("first")), fetch(post("second"))];
  while (begun.length === 0) await breath();
  pass(clock, 9000);
  assert.deepEqual([(await first).status, (await second).status], [504, 504]);
  assert.deepEqual(begun, ["first"]);
});

Deno.test("the client with the fewest running reviews is next", async () => {
  const { fetch, begun, answerNext } = held({ inFlight: 2 });
  const greedy = Array.from({ length: 20 }, () => fetch(post("greedy"), client("10.0.0.1")));
  while (begun.length < 2) await breath();
  const modest = fetch(post("modest"), client("10.0.0.2"));
  await breath();
  answerNext();
  while (begun.length < 3) await breath();
  assert.deepEqual(begun, ["greedy", "greedy", "modest"]);
  for (let i = 1; i < 21; i++) {
    answerNext();
    while (begun.length < Math.min(i + 3, 21)) await breath();
  }
  for (const answer of [...greedy, modest]) assert.equal((await answer).status, 200);
});

Deno.test("large bodies are read within their memory limit, and others wait unread", async () => {
  const { fetch, clock } = held({ held: 10 * MIB });
  const [first, second] = [silent(800_000), silent(800_000)];
  const answers = [fetch(first), fetch(second)];
  for (let i = 0; i < 5; i++) await breath();
  assert.deepEqual([first.wasRead, second.wasRead], [true, false]);
  pass(clock, 5000);
  assert.equal((await answers[0]!).status, 408);
  while (!second.wasRead) await breath();
  // Its time began with its turn.
  pass(clock, 4000);
  assert.equal((await answers[1]!).status, 504);
});

Deno.test("a body is rejected unread if too many wait, or if it is larger than the memory limit", async () => {
  const { fetch } = held({ held: 1 * MIB });
  const large = silent(200_000);
  const answer = await fetch(large);
  assert.deepEqual([answer.status, large.wasRead], [413, false]);
  assert.match(await answer.text(), /Raise the operator's memory limit$/);

  for (let i = 0; i < 66; i++) fetch(silent(100_000), client("10.0.0.1"));
  await breath();
  const next = silent(100_000);
  const refused = await fetch(next, client("10.0.0.1"));
  assert.deepEqual([refused.status, refused.headers.get("retry-after"), next.wasRead], [429, "1", false]);
  // Another client may wait all the same.
  const other = Promise.race([fetch(silent(100_000), client("10.0.0.2")), breath()]);
  assert.equal(await other, undefined);
});

Deno.test("a review whose objects need more memory than the limit is rejected, whatever its length", async () => {
  const { fetch, begun, answerNext } = held({ held: 16 * MIB });
  const wide = review();
  Object.assign(wide.request.object, { data: Array(300_000).fill({}) });
  const body = JSON.stringify(wide);
  const answer = await fetch(request(body, body.length));
  assert.equal(answer.status, 413);
  assert.match(await answer.text(), /^the review needs \d+ MiB of memory, but reviews may use only 12 MiB\. Raise/);
  const plain = fetch(post("x".repeat(body.length)));
  while (begun.length === 0) await breath();
  answerNext();
  assert.equal((await plain).status, 200);
});

Deno.test("memory limits the number of large reviews that are answered at once", async () => {
  const { fetch, begun, answerNext } = held({ held: 10 * MIB });
  const answers = Array.from({ length: 8 }, (_, i) => fetch(post(`${i}`.padEnd(500_000, "x"))));
  for (let answered = 0; answered < 8; answered++) {
    while (begun.length === answered) await breath();
    for (let i = 0; i < 20; i++) await breath();
    assert(begun.length - answered <= 4, `${begun.length - answered} at once`);
    answerNext();
  }
  for (const answer of answers) assert.equal((await answer).status, 200);
});

Deno.test("log lines that a client can cause are limited, and all are counted in metrics", async () => {
  const lines: [message: string, fields: Record<string, unknown>][] = [];
  const note = (message: string, fields: Record<string, unknown> = {}) => void lines.push([message, fields]);
  const log = { debug() {}, info() {}, warn: note, error: note, with: () => log, isDebug: false };
  const metrics = new Metrics();
  const clock = new VirtualClock();
  const { fetch } = webhookHandler({ noteRules }, { clock, metrics, log });
  const thrown = async () => {
    const malformed = review();
    Object.assign(malformed.request.object, { spec: null });
    const body = JSON.stringify(malformed);
    assert.equal((await fetch(request(body, body.length))).status, 500);
  };
  for (let i = 0; i < 200; i++) await thrown();
  assert.equal(lines.length, 10);
  assert.deepEqual(new Set(lines.map(([message]) => message)), new Set(["Webhook failed"]));
  pass(clock, 60_000);
  await thrown();
  assert.equal(lines.length, 11);
  assert.equal(lines.at(-1)![1].suppressed, 190);
  assert.match(
    await metrics.text(),
    /^controller_runtime_webhook_panics_total\{webhook="\/validate\/note-rules"\} 201$/m,
  );
});

function pass(clock: VirtualClock, milliseconds: number): void {
  const until = clock.now() + milliseconds;
  while (clock.step(until));
}

function breath(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
