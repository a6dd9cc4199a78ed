import assert from "node:assert/strict";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import { CASES, explain, namespaceOf, prepare, replaySuite } from "./mod.ts";
import { Recording } from "./recording.ts";
import { asAdministrator } from "./servers.ts";

Deno.test("the in-process API server returns the recorded responses of the real one", async (t) => {
  const recording = await Recording.read(CASES);
  await using server = createApiserver({ clock: systemClock, rbac: true });
  const send = asAdministrator(server);
  await prepare(send);

  const results = await replaySuite(CASES, (each) => recording.transcript(each), send, { namespaceOf });

  for (const result of results) {
    const { case: { area, name }, differences, stale } = result;
    if (differences.length + stale.length === 0) continue;
    await t.step(`${area}: ${name}`, () => assert.fail(explain(result)));
  }
});
