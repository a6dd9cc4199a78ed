import assert from "node:assert/strict";
import { requeue } from "./outcome.ts";

Deno.test("requeue accepts durations, milliseconds and a Date", () => {
  assert.deepEqual(requeue("90s"), { after: 90_000 });
  assert.deepEqual(requeue(0.5), { after: 0.5 });
  assert.deepEqual(requeue(new Date(5)), { at: 5 });
});

for (const when of [NaN, -1, Infinity, -Infinity]) {
  Deno.test(`requeue(${when}) throws a RangeError that quotes the value`, () => {
    assert.throws(() => requeue(when), (error) => error instanceof RangeError && error.message.includes(`got ${when}`));
  });
}

Deno.test("requeue of an invalid Date throws a RangeError", () => {
  assert.throws(() => requeue(new Date("tomorrow")), RangeError);
});
