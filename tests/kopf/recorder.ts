/**
 * Records kopf: `deno run -A tests/kopf/recorder.ts` writes all recordings; names of scenarios
 * after it limit it to those.
 */
import { commit, KopfRecorder } from "./kopf.ts";
import type { Recording, Scenario } from "./scenario.ts";
import { EXAMPLES } from "./scenarios/examples.ts";
import { ISSUES } from "./scenarios/issues.ts";

/** Scenarios that run at a time. They mostly wait. */
const CONCURRENCY = 6;

/** Every scenario. */
export const SCENARIOS: readonly Scenario[] = [...EXAMPLES, ...ISSUES];

/**
 * Plays scenarios with kopf on one cluster, some at a time. Those with webhooks concern the whole
 * cluster and run alone.
 *
 * @param scenarios What to play.
 * @param onRecorded Called with each recording, or with the error that prevented it.
 */
export async function recordAll(
  scenarios: readonly Scenario[],
  onRecorded: (scenario: Scenario, recording: Promise<Recording>) => Promise<void>,
): Promise<void> {
  await using recorder = await KopfRecorder.start();
  const queue = scenarios.filter(({ webhooks }) => !webhooks);
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      await onRecorded(next, recorder.record(next));
    }
  }));
  for (const scenario of scenarios.filter(({ webhooks }) => webhooks)) {
    await onRecorded(scenario, recorder.record(scenario));
  }
}

if (import.meta.main) {
  const chosen = SCENARIOS.filter(({ name }) => Deno.args.length === 0 || Deno.args.includes(name));
  await recordAll(chosen, async (scenario, recording) => {
    try {
      await commit(scenario.name, await recording);
      console.log(`recorded ${scenario.name}`);
    } catch (error) {
      console.error(`${scenario.name}:`, error);
      Deno.exitCode = 1;
    }
  });
}
