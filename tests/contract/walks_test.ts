import assert from "node:assert/strict";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import { findControlPlane } from "../../src/testing/_control_plane.ts";
import { explain, type NormalTranscript, prepare, runSuite } from "./mod.ts";
import { walkOf, walkText } from "./walk.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";

/** Seeds of walks that found a difference in the past. */
const FAILED_ONCE: readonly number[] = [218_777_620];

const FIRST = Number(Deno.env.get("OP_WALK_SEED") ?? 1);
const COUNT = Number(Deno.env.get("OP_WALKS") ?? 40);

const isComplete = (await findControlPlane())?.programs.kubeApiserver !== undefined;

Deno.test({
  name: "random walks get the same responses and end in the same state on both servers",
  ignore: !isComplete,
}, async (t) => {
  await using cluster = await realCluster();
  await using server = createApiserver({ clock: systemClock });
  const answers = { all: 0, good: 0, rejected: 0 };
  const count = ({ steps }: NormalTranscript) => {
    for (const { call, status } of steps) {
      if (call.includes("watch=1")) continue;
      answers.all++;
      if (status < 300) answers.good++;
      if (status === 409 || status === 422) answers.rejected++;
    }
  };
  const servers = {
    real: (request: Request) => cluster.fetch(request),
    other: (request: Request) => server.fetch(request),
  };
  await Promise.all([prepare(servers.real), prepare(servers.other)]);
  const seeds = [...new Set([...FAILED_ONCE, ...Array.from({ length: COUNT }, (_, i) => FIRST + i)])];

  const namespaceOf = ({ name }: { name: string }) => `walk-${name}`;
  const results = await runSuite(seeds.map(walkOf), servers, { namespaceOf, onTranscript: count });

  for (const result of results) {
    await t.step(`walk ${result.case.name}`, () => {
      const { differences, case: { name } } = result;
      if (differences.length > 0) assert.fail(`${walkText(Number(name))}\n\n${explain(result)}`);
    });
  }
  const share = (part: number) => Math.round(100 * part / answers.all);
  console.log(
    `${seeds.length} walks: ${share(answers.good)} % succeeded, ${share(answers.rejected)} % were 409 or 422`,
  );
  await t.step("at least 60 % of the requests succeed, and at least 10 % are rejected", () => {
    assert(answers.good >= 0.6 * answers.all, `${answers.good} of ${answers.all} succeeded`);
    assert(answers.rejected >= 0.1 * answers.all, `${answers.rejected} of ${answers.all} were 409 or 422`);
  });
});
