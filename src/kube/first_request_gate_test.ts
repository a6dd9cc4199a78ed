import assert from "node:assert/strict";
import { firstRequestGate } from "./first_request_gate.ts";

/** Requests whose responses the test controls. */
function requests() {
  const gate = firstRequestGate();
  const sent: string[] = [];
  const responses = new Map<string, PromiseWithResolvers<Response>>();
  return {
    sent,
    send(name: string, signal: AbortSignal | null = null): Promise<Response> {
      return gate(() => {
        sent.push(name);
        signal?.throwIfAborted();
        const response = Promise.withResolvers<Response>();
        responses.set(name, response);
        return response.promise;
      }, signal);
    },
    respond: (name: string) => responses.get(name)!.resolve(new Response()),
    fail: (name: string) => responses.get(name)!.reject(new TypeError("connection refused")),
  };
}

/** Runs the pending microtasks. */
async function flushMicrotasks(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

Deno.test("firstRequestGate delays requests until the first one has a response", async () => {
  const { send, sent, respond } = requests();
  const all = [send("a"), send("b"), send("c")];
  await flushMicrotasks();
  assert.deepEqual(sent, ["a"]);
  respond("a");
  await flushMicrotasks();
  assert.deepEqual(sent, ["a", "b", "c"]);
  all.push(send("d"));
  assert.deepEqual(sent, ["a", "b", "c", "d"]);
  for (const name of ["b", "c", "d"]) respond(name);
  await Promise.all(all);
});

Deno.test("firstRequestGate sends all other requests when the first one fails", async () => {
  const { send, sent, respond, fail } = requests();
  const [a, b, c] = [send("a"), send("b"), send("c")];
  fail("a");
  await assert.rejects(a, /connection refused/);
  await flushMicrotasks();
  assert.deepEqual(sent, ["a", "b", "c"]);
  fail("b");
  respond("c");
  await assert.rejects(b, /connection refused/);
  await c;
});

Deno.test("firstRequestGate stops delaying a request that is aborted", async () => {
  const { send, respond } = requests();
  const a = send("a");
  const stop = new AbortController();
  const b = send("b", stop.signal);
  stop.abort(new Error("aborted"));
  await assert.rejects(b, /aborted/);
  respond("a");
  await a;
});
