/**
 * Records kopf again and compares with the committed recordings. `deno task verify kopf` runs it;
 * it takes two minutes, which is too slow for the test command.
 */
import assert from "node:assert/strict";
import { committedRecording } from "./kopf.ts";
import { recordAll, SCENARIOS } from "./recorder.ts";

Deno.test("kopf does what the committed recordings say", async (t) => {
  // Scenarios overlap and steps of a test may not, so the comparisons follow.
  const recordings = new Map<string, PromiseSettledResult<unknown>>();
  await recordAll(SCENARIOS, async ({ name }, recording) => {
    const [result] = await Promise.allSettled([recording]);
    recordings.set(name, result);
  });
  for (const { name, title } of SCENARIOS) {
    await t.step(`${name}: ${title}`, async () => {
      const result = recordings.get(name);
      if (result?.status === "rejected") throw result.reason;
      assert.deepEqual(result?.value, await committedRecording(name));
    });
  }
});
