/**
 * fast-check with a seed that is the same each time, so that a run says the same twice. `PROPERTY_SEED` sets another: `$RANDOM` looks for what nobody
 * has found. `PROPERTY_RUNS=10` tries ten times as much.
 */
import fc from "fast-check";

/** How many times as much is tried as usual. */
export const runs = Number(Deno.env.get("PROPERTY_RUNS") ?? 1);

fc.configureGlobal({ seed: Number(Deno.env.get("PROPERTY_SEED") ?? 20_261_121), numRuns: 100 * runs });

export default fc;
