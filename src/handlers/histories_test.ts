import assert from "node:assert/strict";
import fc from "fast-check";
import { type Core, History, type ModelHandler, type Step } from "./_history.ts";
import { nextState } from "./next_state.ts";
import { plan } from "./plan.ts";
import { decodeRecord, encodeRecord } from "./record.ts";

const CORE: Core = { plan, nextState, encodeRecord, decodeRecord };

// The causes are those of `on.create`, `on.update`, `on.field` and so on.
const FORMS: readonly Omit<ModelHandler, "key">[] = [
  { causes: new Set(["create"]), subject: "none" },
  { causes: new Set(["update"]), subject: "object", path: [] },
  { causes: new Set(["create", "update"]), subject: "object", path: [] },
  { causes: new Set(["create", "update"]), subject: "value", path: ["spec", "a"] },
  { causes: new Set(["create", "update"]), subject: "value", path: ["spec", "b"] },
  { causes: new Set(["create", "update"]), subject: "value", path: ["spec"] },
  { causes: new Set(["create", "update"]), subject: "value", isComputed: true },
  { causes: new Set(["create", "update"]), subject: "items", path: ["spec", "items"] },
  { causes: new Set(["delete"]), subject: "none" },
  { causes: new Set(["delete"]), subject: "none" },
  { causes: new Set(["create", "delete"]), subject: "none" },
  { causes: new Set(["resume"]), subject: "none" },
];

const value = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined });

const handlers: fc.Arbitrary<ModelHandler[]> = fc.uniqueArray(
  fc.record({
    key: fc.constantFrom("h1", "h2", "h3", "h4", "h5"),
    form: fc.constantFrom(...FORMS),
    label: fc.option(fc.constantFrom("x"), { nil: undefined, freq: 3 }),
    retries: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    onFailure: fc.constantFrom("blockDeletion" as const, "allowDeletion" as const),
  }).map(({ form, label, retries, ...rest }) => ({
    ...form,
    ...rest,
    ...(label === undefined ? {} : { label }),
    ...(retries === undefined ? {} : { retries }),
  })),
  { selector: ({ key }) => key, minLength: 1, maxLength: 4 },
);

const result = fc.oneof(
  { weight: 5, arbitrary: fc.constant("success" as const) },
  { weight: 3, arbitrary: fc.constant("failure" as const) },
  { weight: 1, arbitrary: fc.constantFrom("permanent failure" as const, "pending" as const) },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      type: fc.constant("reconcile" as const),
      results: fc.array(result, { maxLength: 5 }),
      change: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined, freq: 2 }),
      crashes: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("set" as const),
      field: fc.constantFrom("a" as const, "b" as const),
      value,
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("label" as const), value: fc.constantFrom("x", undefined) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("items" as const),
      items: fc.array(fc.tuple(fc.constantFrom("i", "j", "k"), fc.integer({ min: 0, max: 2 })), { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("wait" as const), time: fc.integer({ min: 0, max: 200 }) }) },
  { weight: 2, arbitrary: fc.constant<Step>({ type: "delete" }) },
  { weight: 2, arbitrary: fc.constant<Step>({ type: "crash" }) },
  { weight: 1, arbitrary: fc.constant<Step>({ type: "replace" }) },
  { weight: 1, arbitrary: handlers.map((handlers) => ({ type: "upgrade" as const, handlers })) },
);

const histories = fc.tuple(handlers, fc.array(step, { maxLength: 25 }));

Deno.test("handlers receive each change exactly once in random histories of changes, failures, crashes and upgrades", () => {
  assert.equal(search(CORE, 10_000), undefined);
});

const wrongCores: { name: string; core: Partial<Core> }[] = [
  {
    name: "one baseline for all handlers",
    core: {
      nextState(set, live, state, outcomes, now) {
        const next = nextState(set, live, state, outcomes, now);
        if (!outcomes.some(({ result }) => result === "success")) return next;
        const baselines = new Map(
          [...next.state.baselines.keys()].map((key) => [key, { value: live.values.get(key) }]),
        );
        return { ...next, state: { ...next.state, baselines } };
      },
    },
  },
  {
    name: "a pending creation is not stored",
    core: {
      encodeRecord: (set, rules, state, observed, unknown) => {
        const record = JSON.parse(encodeRecord(set, rules, state, observed, unknown));
        const baselines = Object.entries(record.baselines ?? {}).filter(([, baseline]) => baseline !== null);
        return JSON.stringify({ ...record, baselines: Object.fromEntries(baselines) });
      },
    },
  },
  {
    name: "the uid of the record is ignored",
    core: {
      decodeRecord: (set, rules, text, live) =>
        decodeRecord(set, rules, JSON.stringify({ ...JSON.parse(text), uid: live.uid.slice(0, 8) }), live),
    },
  },
  {
    name: "updates do not wait for the creation",
    core: {
      plan(set, live, state, now) {
        const others = set.handlers.map((handler) => ({ ...handler, subject: "value" as const }));
        return plan({ handlers: others }, live, state, now);
      },
    },
  },
  {
    name: "the finalizer does not wait for all delete handlers",
    core: {
      plan(set, live, state, now) {
        const due = plan(set, live, state, now);
        return live.isDeleting && (state?.deleted.size ?? 0) > 0 ? { ...due, finalizer: "remove", calls: [] } : due;
      },
    },
  },
  {
    name: "handled deletions are not stored",
    core: {
      encodeRecord: (set, rules, state, observed, unknown) =>
        encodeRecord(set, rules, { ...state, deleted: new Set() }, observed, unknown),
    },
  },
  {
    name: "an item's success counts for the whole list",
    core: {
      nextState(set, live, state, outcomes, now) {
        const next = nextState(set, live, state, outcomes, now);
        const baselines = new Map(next.state.baselines);
        for (const { call, result } of outcomes) {
          if (call.item !== undefined && result === "success") {
            baselines.set(call.key, { value: live.values.get(call.key) });
          }
        }
        return { ...next, state: { ...next.state, baselines } };
      },
    },
  },
  {
    name: "an unsuccessful call counts as handled",
    core: {
      nextState: (set, live, state, outcomes, now) =>
        nextState(set, live, state, outcomes.map((outcome) => ({ ...outcome, result: "success" })), now),
    },
  },
  {
    name: "a record is not written after a failed call",
    core: {
      nextState(set, live, state, outcomes, now) {
        const next = nextState(set, live, state, outcomes, now);
        return outcomes.some(({ result }) => result === "failure") ? { ...next, write: false } : next;
      },
    },
  },
  {
    name: "baselines that differ from the observed state are not stored",
    core: {
      encodeRecord: (set, rules, state, observed, unknown) => {
        const { baselines: _, ...record } = JSON.parse(encodeRecord(set, rules, state, observed, unknown));
        return JSON.stringify(record);
      },
    },
  },
];

for (const { name, core } of wrongCores) {
  Deno.test(`random histories detect a wrong implementation: ${name}`, () => {
    assert.notEqual(search({ ...CORE, ...core }, 10_000), undefined);
  });
}

/**
 * Runs random histories until one violates an invariant, and describes the shortest such history.
 */
function search(core: Core, runs: number): string | undefined {
  const { failed, counterexample, errorInstance, seed } = fc.check(
    fc.property(histories, ([handlers, steps]) => {
      const history = new History(core, handlers);
      for (const step of steps) history.perform(step);
      history.finish();
    }),
    { numRuns: runs, seed: Number(Deno.env.get("PROPERTY_SEED") ?? 1), endOnFailure: core !== CORE },
  );
  if (!failed) return undefined;
  return `Seed ${seed}: ${(errorInstance as Error).message}\n${Deno.inspect(counterexample, { depth: 9 })}`;
}
