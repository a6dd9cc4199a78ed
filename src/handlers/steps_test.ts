import assert from "node:assert/strict";
import { VirtualClock } from "../base/virtual_clock.ts";
import type { StepState } from "./state.ts";
import { type CallEnd, type ErrorMeaning, StepError, type StepFailure, StepPendingError, StepRunner } from "./steps.ts";

/** An error with a meaning of its own, as `TemporaryError` and `PermanentError` have. */
class ClassifiedError extends Error {
  constructor(readonly meaning: ErrorMeaning) {
    super(`a ${meaning.kind} error`);
  }
}

/** A call that is repeated until it ends, as the runtime does it. */
class TestCall {
  readonly clock = new VirtualClock();
  readonly controller = new AbortController();
  readonly failures: StepFailure[] = [];
  readonly results: string[] = [];
  states: ReadonlyMap<string, StepState> = new Map();
  attempt = 0;

  /** Makes one attempt. */
  async try(handler: (runner: StepRunner) => unknown): Promise<CallEnd> {
    const runner = new StepRunner({
      clock: this.clock,
      signal: this.controller.signal,
      attempt: ++this.attempt,
      states: this.states,
      backoff: { first: 1000, longest: 60_000 },
      classify: (error) => error instanceof ClassifiedError ? error.meaning : { kind: "other" },
      onResult: (step) => void this.results.push(step),
      onFailure: (failure) => void this.failures.push(failure),
    });
    let failure: { error: unknown } | undefined;
    try {
      await handler(runner);
    } catch (error) {
      failure = { error };
    }
    const end = await runner.end(failure);
    this.states = runner.states;
    return end;
  }

  /** Waits until a pending call is due. */
  wait(end: CallEnd): void {
    assert.equal(end.result, "pending");
    if (end.result === "pending") this.clock.step(end.dueAt);
  }
}

interface Steps {
  step: StepRunner["step"];
}

/** The functions of a runner as the context of a handler has them. */
function bound(runner: StepRunner): Steps {
  return { step: (key, fn, options) => runner.step(key, fn, options) };
}

/** A function that fails a number of times, and counts its calls. */
function failing(times: number, error: () => Error = () => new Error("not ready")) {
  const fn = Object.assign(() => {
    if (++fn.calls <= times) throw error();
    return `result ${fn.calls}`;
  }, { calls: 0 });
  return fn;
}

function codeOf(end: CallEnd): unknown {
  return end.result === "failure" && end.error instanceof StepError ? [end.error.code, end.error.step] : end;
}

Deno.test("step: a retry of the handler gets the stored result without calling the function", async () => {
  const call = new TestCall();
  const database = failing(0);
  const deploy = failing(1);
  const found: unknown[] = [];
  const handler = async ({ step }: Steps) => {
    found.push(await step("database", database));
    await step("deploy", deploy);
  };

  const first = await call.try((runner) => handler(bound(runner)));
  const second = await call.try((runner) => handler(bound(runner)));

  assert.equal(first.result, "failure");
  assert.deepEqual(second, { result: "success" });
  assert.deepEqual(found, ["result 1", "result 1"]);
  assert.deepEqual([database.calls, deploy.calls], [1, 2]);
  assert.deepEqual(call.results, ["database", "deploy"]);
});

Deno.test("step: a result of undefined is stored, and results are copies", async () => {
  const call = new TestCall();
  const value = { list: [1], absent: undefined };
  let [calls, found] = [0, value];
  for (let i = 0; i < 2; i++) {
    await call.try(async (runner) => {
      await runner.step("nothing", () => void calls++);
      found = await runner.step("object", () => value);
      found.list.push(2);
    });
  }

  assert.equal(calls, 1);
  assert.deepEqual(found, { list: [1, 2] });
  assert.deepEqual(value.list, [1]);
});

Deno.test("step: a result is kept as long as the object exists if its lifetime is the object", async () => {
  const call = new TestCall();
  await call.try(async (runner) => {
    await runner.step("id", () => 1, { lifetime: "object" });
    await runner.step("other", () => 2);
  });

  assert.deepEqual(Object.fromEntries(call.states), {
    id: { result: 1, isKept: true },
    other: { result: 2, isKept: false },
  });
});

Deno.test("step: a step with retries waits alone, with the backoff of the call", async () => {
  const call = new TestCall();
  const database = failing(2);
  const delays: number[] = [];
  let end: CallEnd;
  do {
    const before = call.clock.now();
    end = await call.try((runner) => runner.step("database", database, { retries: 3 }));
    if (end.result !== "pending") break;
    delays.push(end.dueAt - before);
    call.wait(end);
  } while (delays.length < 10);

  assert.deepEqual(end, { result: "success" });
  assert.deepEqual(delays, [1000, 2000]);
  assert.deepEqual(call.failures.map(({ step, attempt }) => [step, attempt]), [["database", 1], ["database", 2]]);
});

Deno.test("step: a step is not called before its next attempt is due", async () => {
  const call = new TestCall();
  const database = failing(1);
  const first = await call.try((runner) => runner.step("database", database, { backoff: "30s" }));
  const second = await call.try((runner) => runner.step("database", database, { backoff: "30s" }));

  assert.deepEqual(first, { result: "pending", dueAt: call.clock.now() + 30_000 });
  assert.deepEqual(second, first);
  assert.equal(database.calls, 1);

  call.wait(second);
  assert.deepEqual(await call.try((runner) => runner.step("database", database, { backoff: "30s" })), {
    result: "success",
  });
});

Deno.test("step: a TemporaryError sets the delay, and a backoff grows to its longest delay", async () => {
  const call = new TestCall();
  const temporary = await call.try((runner) =>
    runner.step("a", failing(1, () => new ClassifiedError({ kind: "temporary", after: 7 })), { retries: 2 })
  );
  const backoff = { first: "2s", longest: "3s" } as const;
  const b = failing(9);
  const first = await call.try((runner) => runner.step("b", b, { backoff }));
  call.wait(first);
  const now = call.clock.now();
  const second = await call.try((runner) => runner.step("b", b, { backoff }));

  assert.deepEqual(temporary, { result: "pending", dueAt: now - 2000 + 7 });
  assert.deepEqual(second, { result: "pending", dueAt: now + 3000 });
});

Deno.test("step: only attempts with limits are marked as stored", async () => {
  const call = new TestCall();
  const now = call.clock.now();
  await call.try((runner) => runner.step("limited", failing(1), { retries: 2, backoff: "1s" }));
  await call.try((runner) => runner.step("unlimited", failing(1), { backoff: "1s" }));

  assert.deepEqual(Object.fromEntries(call.states), {
    limited: { attempts: 1, since: now, dueAt: now + 1000 },
    unlimited: { attempts: 1, dueAt: now + 1000 },
  });
});

Deno.test("step: the call gives up after the last attempt, and does not call the step again", async () => {
  const call = new TestCall();
  const database = failing(9);
  const handler = (runner: StepRunner) => runner.step("database", database, { retries: 2 });
  call.wait(await call.try(handler));

  const end = await call.try(handler);

  assert.deepEqual(codeOf(end), ["StepRetriesExhausted", "database"]);
  assert.deepEqual(codeOf(await call.try(handler)), ["StepRetriesExhausted", "database"]);
  assert.equal(database.calls, 2);
});

Deno.test("step: the call gives up after the total time limit", async () => {
  const call = new TestCall();
  const database = failing(9);
  const handler = (runner: StepRunner) => runner.step("database", database, { totalTimeout: "1m", backoff: "40s" });
  call.wait(await call.try(handler));
  call.wait(await call.try(handler));

  assert.deepEqual(codeOf(await call.try(handler)), ["StepTimedOut", "database"]);
  assert.equal(database.calls, 2);
});

Deno.test("step: a PermanentError is not retried", async () => {
  const call = new TestCall();
  const error = new ClassifiedError({ kind: "permanent" });

  const end = await call.try((runner) => runner.step("database", failing(1, () => error), { retries: 5 }));

  assert.deepEqual(end, { result: "failure", error });
});

Deno.test("step: the option errors decides about other errors", async () => {
  const call = new TestCall();
  let ignored: unknown = "not set";

  const permanent = await call.try((runner) => runner.step("a", failing(1), { errors: "permanent" }));
  const success = await call.try(async (runner) => {
    ignored = await runner.step("b", failing(1), { errors: "ignored" });
  });

  assert.deepEqual(codeOf(permanent), ["StepFailed", "a"]);
  assert.deepEqual(success, { result: "success" });
  assert.equal(ignored, undefined);
});

Deno.test("step: an attempt ends after its time limit, and its signal is aborted", async () => {
  const call = new TestCall();
  let signal: AbortSignal | undefined;
  const ending = call.try((runner) =>
    runner.step("slow", (attempt) => {
      ({ signal } = attempt);
      return new Promise(() => {});
    }, { timeout: "10s", retries: 2 })
  );
  await Promise.resolve();
  call.clock.step(call.clock.now() + 10_000);

  assert.equal((await ending).result, "pending");
  assert.equal(signal?.aborted, true);
  assert.equal((call.failures[0]?.error as Error).name, "TimeoutError");
});

Deno.test("step: an attempt that was aborted with the call does not count", async () => {
  const call = new TestCall();
  const deleted = new Error("deleted");

  const end = await call.try((runner) =>
    runner.step("slow", ({ signal }) => {
      call.controller.abort(deleted);
      signal.throwIfAborted();
    }, { retries: 1 })
  );
  const after = await call.try((runner) => runner.step("other", () => assert.fail("the step was called")));

  assert.deepEqual([end, after], [{ result: "failure", error: deleted }, { result: "failure", error: deleted }]);
  assert.equal(call.states.size, 0);
});

Deno.test("step: the attempt of a step without retries is the attempt of the call", async () => {
  const call = new TestCall();
  const attempts: number[] = [];
  const handler = (runner: StepRunner) =>
    runner.step("a", ({ attempt }) => {
      attempts.push(attempt);
      throw new Error("not ready");
    });
  await call.try(handler);
  await call.try(handler);

  assert.deepEqual(attempts, [1, 2]);
});

const mistakes: { name: string; code: string; step: string; handler(runner: StepRunner): unknown }[] = [
  {
    name: "two steps with the same key",
    code: "DuplicateStep",
    step: "page",
    async handler(runner) {
      for (const page of ["a", "b"]) await runner.step("page", () => page);
    },
  },
  {
    name: "a result that is not JSON",
    code: "StepResultNotJson",
    step: "now",
    handler: (runner) => runner.step("now", () => new Date(0)),
  },
  {
    name: "a step that is not awaited",
    code: "StepNotAwaited",
    step: "floating",
    handler: (runner) => void runner.step("floating", () => Promise.resolve(1)),
  },
  {
    name: "a handler that catches the error of a waiting step",
    code: "StepPendingCaught",
    step: "database",
    handler: (runner) => runner.step("database", failing(1), { retries: 2 }).catch(() => {}),
  },
];

for (const { name, code, step, handler } of mistakes) {
  Deno.test(`step: ${name} is an error that names the step`, async () => {
    assert.deepEqual(codeOf(await new TestCall().try(handler)), [code, step]);
  });
}

Deno.test("step: retries of 0 are rejected", async () => {
  const end = await new TestCall().try((runner) => runner.step("a", () => 1, { retries: 0 }));

  assert(end.result === "failure" && end.error instanceof RangeError);
});

Deno.test("step: a handler that wraps the error of a waiting step waits", async () => {
  const end = await new TestCall().try(async (runner) => {
    try {
      await runner.step("database", failing(1), { retries: 2 });
    } catch (cause) {
      throw new Error("cannot create the database", { cause });
    }
  });

  assert.equal(end.result, "pending");
});

Deno.test("step: a step within a step that waits is no failure of the outer step", async () => {
  const call = new TestCall();
  const inner = failing(1);
  const handler = (runner: StepRunner) =>
    runner.step("outer", () => runner.step("inner", inner, { retries: 2 }), { retries: 1 });

  call.wait(await call.try(handler));

  assert.deepEqual(await call.try(handler), { result: "success" });
});

Deno.test("step: a call that fails waits for its other steps, and stores their results", async () => {
  const call = new TestCall();
  const { promise, resolve } = Promise.withResolvers<string>();
  const ending = call.try((runner) =>
    Promise.all([runner.step("slow", () => promise), runner.step("broken", failing(1))])
  );
  resolve("done");

  assert.equal((await ending).result, "failure");
  assert.deepEqual([...call.states], [["slow", { result: "done", isKept: false }]]);
});

Deno.test("steps: parallel steps return their results by key", async () => {
  const call = new TestCall();
  let found: { a: number; b: string } | undefined;

  const end = await call.try(async (runner) => {
    found = await runner.steps({ a: () => 1, b: () => Promise.resolve("x") });
  });

  assert.deepEqual(end, { result: "success" });
  assert.deepEqual(found, { a: 1, b: "x" });
});

Deno.test("steps: all steps run, and all errors are reported", async () => {
  const call = new TestCall();
  const ok = failing(0);

  const end = await call.try((runner) => runner.steps({ a: failing(1), ok, b: failing(1, () => new Error("full")) }));

  assert(end.result === "failure" && end.error instanceof AggregateError);
  assert.deepEqual(end.error.errors.map(({ message }) => message), ["not ready", "full"]);
  assert.deepEqual([...call.states.keys()], ["ok"]);
});

Deno.test("steps: steps wait together if the others succeeded", async () => {
  const call = new TestCall();
  const a = failing(1);
  const handler = (runner: StepRunner) =>
    runner.steps({
      a: () => runner.step("inner a", a, { backoff: "1m" }),
      b: () => runner.step("inner b", failing(1), { backoff: "2m" }),
      c: () => 3,
    });

  const end = await call.try(handler);

  assert.deepEqual(end, { result: "pending", dueAt: call.clock.now() + 60_000 });
  assert.deepEqual(call.states.get("c"), { result: 3, isKept: false });
});

Deno.test("steps: a failed step fails the call although another one waits", async () => {
  const call = new TestCall();
  const end = await call.try((runner) =>
    runner.steps({ a: () => runner.step("inner", failing(1), { retries: 2 }), b: failing(1) })
  );

  assert(end.result === "failure" && end.error instanceof AggregateError);
  assert(end.error.errors[0] instanceof StepPendingError);
});
