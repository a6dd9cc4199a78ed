import assert from "node:assert/strict";
import { aborted, linked } from "./abort.ts";

Deno.test("linked is aborted by the first of its signals, or by its own abort(), and has that reason", async (t) => {
  for (const first of ["one", "two", "itself"]) {
    await t.step(first, () => {
      const [one, two] = [new AbortController(), new AbortController()];
      using both = linked([one.signal, two.signal]);
      assert.equal(both.signal.aborted, false);
      ({ one, two, itself: both })[first]!.abort(first);
      one.abort("later");
      two.abort("later");
      both.abort("later");
      assert.equal(both.signal.reason, first);
    });
  }
});

Deno.test("linked starts aborted if one of its signals is aborted", () => {
  using inner = linked([new AbortController().signal, AbortSignal.abort("before")]);
  assert.equal(inner.signal.reason, "before");
});

Deno.test("linked removes its listeners when it is disposed", () => {
  const outer = new AbortController();
  const inner = linked([outer.signal]);
  inner[Symbol.dispose]();
  outer.abort();
  assert.equal(inner.signal.aborted, false);
});

Deno.test("aborted waits for a signal, and resolves at once if it is already aborted", async () => {
  const abort = new AbortController();
  let isOver = false;
  const waited = aborted(abort.signal).then(() => isOver = true);
  await Promise.resolve();
  assert.equal(isOver, false);
  abort.abort();
  await waited;
  await aborted(abort.signal);
});
