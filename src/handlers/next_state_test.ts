import assert from "node:assert/strict";
import type { HandlerSet } from "./handler_set.ts";
import type { Live } from "./live.ts";
import { nextState, type Outcome } from "./next_state.ts";
import type { Call } from "./plan.ts";
import type { StepState } from "./state.ts";

const set: HandlerSet = { handlers: [{ key: "provision", causes: new Set(["create"]), subject: "none", retries: 1 }] };
const live: Live = {
  uid: "0a1b2c3d",
  isDeleting: false,
  hasFinalizer: false,
  isFoundAtStart: false,
  matching: new Set(["provision"]),
  values: new Map(),
  digest: () => "digest",
};
const call: Call = {
  id: "provision",
  key: "provision",
  cause: "create",
  old: undefined,
  current: undefined,
  attempt: 1,
};

Deno.test("the steps of a call that gave up keep their results, and have all attempts again", () => {
  const result: StepState = { result: "db-1", isKept: false };
  const steps = new Map<string, StepState>([["database", result], ["deploy", { attempts: 3, since: 1 }]]);
  const outcome: Outcome = { call, result: "failure", since: 1, steps };

  const { state, gaveUp } = nextState(set, live, undefined, [outcome], 2);

  assert.equal(gaveUp[0]?.reason, "RetriesExhausted");
  assert.deepEqual(state.steps, new Map([["provision", new Map([["database", result]])]]));
});
