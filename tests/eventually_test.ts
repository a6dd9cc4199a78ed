import assert from "node:assert/strict";
import { eventually } from "./eventually.ts";

Deno.test("eventually returns what the check returns once it stops throwing", async () => {
  let calls = 0;
  const result = await eventually(() => {
    assert(++calls === 3);
    return "done";
  }, { pause: 0 });
  assert.deepEqual([result, calls], ["done", 3]);
});

Deno.test("eventually calls a check that returns false again", async () => {
  let calls = 0;
  assert.equal(await eventually(() => ++calls === 2, { pause: 0 }), true);
});

Deno.test("eventually reports the last failure and the state when the limit is reached", async () => {
  let calls = 0;
  const never = eventually(() => assert.fail(`request ${++calls} is missing`), {
    limit: 0,
    pause: 1,
    state: () => "sent: none",
  });
  await assert.rejects(never, (error: Error) => {
    assert.match(error.message, /did not hold after \d+ checks in 0 ms: request \d+ is missing\nsent: none$/);
    assert(error.cause instanceof assert.AssertionError);
    return true;
  });
});
