import assert from "node:assert/strict";
import { aloneFirst } from "./alone_first.ts";

/** Requests that are answered when the test says so. */
function requests() {
  const gate = aloneFirst();
  const sent: string[] = [];
  const answers = new Map<string, PromiseWithResolvers<Response>>();
  return {
    sent,
    send(name: string, signal: AbortSignal | null = null): Promise<Response> {
      return gate(() => {
        sent.push(name);
        signal?.throwIfAborted();
        const answer = Promise.withResolvers<Response>();
        answers.set(name, answer);
        return answer.promise;
      }, signal);
    },
    answer: (name: string) => answers.get(name)!.resolve(new Response()),
    fail: (name: string) => answers.get(name)!.reject(new TypeError("connection refused")),
  };
}

/** Lets everything go on that needs no answer. */
async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve();
}

Deno.test("aloneFirst holds what comes while the first request is under way, and nothing after that", async () => {
  const { send, sent, answer } = requests();
  const all = [send("a"), send("b"), send("c")];
  await turns();
  assert.deepEqual(sent, ["a"]);
  answer("a");
  await turns();
  assert.deepEqual(sent, ["a", "b", "c"]);
  all.push(send("d"));
  assert.deepEqual(sent, ["a", "b", "c", "d"]);
  for (const name of ["b", "c", "d"]) answer(name);
  await Promise.all(all);
});

Deno.test("aloneFirst lets all go when the first fails: none waits for the failures of others", async () => {
  const { send, sent, answer, fail } = requests();
  const [a, b, c] = [send("a"), send("b"), send("c")];
  fail("a");
  await assert.rejects(a, /connection refused/);
  await turns();
  assert.deepEqual(sent, ["a", "b", "c"]);
  fail("b");
  answer("c");
  await assert.rejects(b, /connection refused/);
  await c;
});

Deno.test("aloneFirst lets go of a request that is given up while it waits", async () => {
  const { send, answer } = requests();
  const a = send("a");
  const given = new AbortController();
  const b = send("b", given.signal);
  given.abort(new Error("given up"));
  await assert.rejects(b, /given up/);
  answer("a");
  await a;
});
