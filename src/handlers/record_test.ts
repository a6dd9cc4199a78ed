import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { HandlerDefinition } from "./handler_set.ts";
import { parsePath, type Path, project, valueAt } from "./path.ts";
import { type DecodedRecord, decodeRecord, encodeRecord, type RecordRules, RecordTooLargeError } from "./record.ts";
import { type HandlerState, initialState, type StepState } from "./state.ts";

const UID = "0a1b2c3d-0000-0000-0000-000000000000";

const SIZE: HandlerDefinition = { key: "size", causes: new Set(["create", "update"]), subject: "value" };
const CREATED: HandlerDefinition = { key: "created", causes: new Set(["create"]), subject: "none" };

/** Rules for handlers that follow fields, by key. */
function rulesFor(paths: Readonly<Record<string, string>>, rules: Partial<RecordRules> = {}): RecordRules {
  const parsed = new Map(Object.entries(paths).map(([key, path]): [string, Path] => [key, parsePath(path)]));
  return {
    apiVersion: "example.com/v1",
    paths: [...parsed.values()],
    pathOf: (key) => parsed.get(key),
    valueIn: (key, projection) => valueAt(projection, parsed.get(key) ?? []),
    isComputed: () => false,
    adapt: (projection) => projection,
    ...rules,
  };
}

const RULES = rulesFor({ size: ".spec.size" });

function stateOf(handlers: readonly HandlerDefinition[], changes: Partial<HandlerState> = {}): HandlerState {
  return { ...initialState({ handlers }, UID), ...changes };
}

function decode(
  handlers: readonly HandlerDefinition[],
  text: string,
  object: unknown = {},
  rules: RecordRules = RULES,
): DecodedRecord | undefined {
  const projection = project(object, rules.paths);
  return decodeRecord({ handlers }, rules, text, { uid: UID, projection, computed: new Map() });
}

/** Returns the record of an object whose size was handled. */
function recordOfSize(size: number): string {
  const state = stateOf([SIZE], { baselines: new Map([["size", { value: size }]]) });
  return encodeRecord({ handlers: [SIZE] }, RULES, state, { spec: { size } });
}

Deno.test("the record of a fully handled object has the observed values and no baselines", () => {
  const state = stateOf([SIZE, CREATED], {
    baselines: new Map([["size", { value: 2 }], ["created", { value: undefined }]]),
  });
  const record = encodeRecord({ handlers: [SIZE, CREATED] }, RULES, state, { spec: { size: 2 } });

  assert.equal(
    record,
    '{"uid":"0a1b2c3d","apiVersion":"example.com/v1","paths":[".spec.size"],"observed":{"spec":{"size":2}}}',
  );
  assert.deepEqual(decode([SIZE, CREATED], record)?.state, state);
});

Deno.test("the record has a patch for a handler that has not handled the observed values, and null for one that was never called", () => {
  const state = stateOf([SIZE, CREATED], { baselines: new Map([["size", { value: 1 }], ["created", null]]) });
  const record = encodeRecord({ handlers: [SIZE, CREATED] }, RULES, state, { spec: { size: 2 } });

  assert.deepEqual(JSON.parse(record).baselines, {
    size: [{ op: "replace", path: "/spec/size", value: 1 }],
    created: null,
  });
  assert.deepEqual(decode([SIZE, CREATED], record)?.state, state);
});

function stepMap(steps: Record<string, StepState>): ReadonlyMap<string, StepState> {
  return new Map(Object.entries(steps));
}

Deno.test("the record has attempts only of handlers and steps with limits, and results of steps", () => {
  const limited = { ...SIZE, retries: 3 };
  const attempts = new Map(["size", "created", "created:resume"].map((id) => [id, { count: 2, since: 5, dueAt: 9 }]));
  const result = { result: undefined, isKept: true };
  const steps = new Map([
    [
      "size",
      stepMap({ a: result, b: { attempts: 2, since: 5, dueAt: 9 }, c: { attempts: 3, dueAt: 9 } }),
    ],
    ["created", stepMap({ c: { attempts: 3, dueAt: 9 } })],
  ]);
  const handlers = [limited, CREATED];
  const record = encodeRecord({ handlers }, RULES, stateOf(handlers, { attempts, steps }), {});

  const decoded = decode(handlers, record)?.state;

  assert.deepEqual(decoded?.attempts, new Map([["size", { count: 2, since: 5 }]]));
  assert.deepEqual(decoded?.steps, new Map([["size", stepMap({ a: result, b: { attempts: 2, since: 5 } })]]));
});

Deno.test("a record of another object is ignored", () => {
  const record = encodeRecord({ handlers: [SIZE] }, RULES, stateOf([SIZE], { uid: "99999999-0" }), {});

  assert.equal(decode([SIZE], record), undefined);
});

Deno.test("a new handler starts from the current state, or from creation with isForExistingObjects", () => {
  const record = encodeRecord({ handlers: [] }, rulesFor({}), stateOf([]), {});
  const existing = { ...CREATED, key: "existing", isForExistingObjects: true };

  const decoded = decode([SIZE, CREATED, existing], record, { spec: { size: 4 } });

  assert.deepEqual(decoded?.state.baselines.get("size"), { value: 4 });
  assert.deepEqual(decoded?.state.baselines.get("created"), { value: undefined });
  assert.equal(decoded?.state.baselines.get("existing"), null);
  assert(decoded?.isOutdated);
});

Deno.test("a renamed handler keeps its state, and the entries of a removed one are dropped", () => {
  const removed = { ...SIZE, key: "removed", retries: 2 };
  const before = stateOf([SIZE, removed], {
    baselines: new Map([["size", { value: 1 }], ["removed", null]]),
    failed: new Map([["size", "digest"], ["removed", "digest"]]),
  });
  const rules = rulesFor({ size: ".spec.size", removed: ".spec.host" });
  const record = encodeRecord({ handlers: [SIZE, removed] }, rules, before, { spec: { size: 2 } });

  const renamed = { ...SIZE, key: "resize", renamedFrom: ["size"] };
  const decoded = decode([renamed], record, { spec: { size: 3 } }, rulesFor({ resize: ".spec.size" }));

  assert.deepEqual(decoded?.state.baselines, new Map([["resize", { value: 1 }]]));
  assert.deepEqual(decoded?.state.failed, new Map([["resize", "digest"]]));
});

Deno.test("a wider path keeps the observed values, and uses the current state for all others", () => {
  const record = recordOfSize(1);

  const decoded = decode([SIZE], record, { spec: { size: 2, host: "a" } }, rulesFor({ size: ".spec" }));

  assert.deepEqual(decoded?.state.baselines.get("size"), { value: { size: 1, host: "a" } });
});

Deno.test("a record of another version is converted", () => {
  const record = recordOfSize(1);
  const rules = rulesFor({ size: ".spec.replicas" }, {
    apiVersion: "example.com/v2",
    adapt: (projection, apiVersion) => {
      assert.equal(apiVersion, "example.com/v1");
      return { spec: { replicas: valueAt(projection, ["spec", "size"]) } };
    },
  });

  const decoded = decode([SIZE], record, { spec: { replicas: 1 } }, rules);

  assert.deepEqual(decoded?.state.baselines.get("size"), { value: 1 });
  assert(decoded?.isOutdated);
});

Deno.test("fields of a newer version of the SDK are written back", () => {
  const record = encodeRecord({ handlers: [SIZE] }, RULES, stateOf([SIZE]), {}, { future: [1] });
  const decoded = decode([SIZE], record);

  assert.deepEqual(decoded?.unknown, { future: [1] });
});

Deno.test("a long record is deflated", () => {
  const text = "long ".repeat(2000);
  const state = stateOf([SIZE], { baselines: new Map([["size", { value: text }]]) });
  const record = encodeRecord({ handlers: [SIZE] }, RULES, state, { spec: { size: text } });

  assert(record.length < 500);
  assert.deepEqual(decode([SIZE], record)?.state, state);
});

Deno.test("encoding a record that is too large throws an error with the path of the largest value", () => {
  const random = Array.from(
    { length: 4 },
    () => Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64"),
  ).join("");

  assert.throws(
    () => encodeRecord({ handlers: [SIZE] }, RULES, stateOf([SIZE]), { spec: { size: random } }),
    (error: unknown) => error instanceof RecordTooLargeError && error.path === ".spec.size",
  );
});

for (const text of ["{", "deflate:%%%", "[]", '{"uid":"a"}']) {
  Deno.test(`${JSON.stringify(text)} is rejected as a record`, () => {
    assert.throws(() => decode([SIZE], text), { name: "SyntaxError" });
  });
}
