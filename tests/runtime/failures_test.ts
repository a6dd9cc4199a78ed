import assert from "node:assert/strict";
import {
  access,
  controller,
  conversion,
  PermanentError,
  resource,
  s,
  source,
  TemporaryError,
  watch,
  webhook,
} from "@op/sdk";
import { ConfigMap, Secret } from "@op/sdk/kinds";
import { faults, type MemoryCluster, memoryCluster, OperatorFailedError } from "@op/sdk/testing";
import { applyText, Note, recording, until } from "../fixtures/notes.ts";

/** Returns the error with which a call rejects. */
async function failureOf(call: PromiseLike<unknown>): Promise<OperatorFailedError> {
  const error = await call.then(() => undefined, (error) => error);
  assert(error instanceof OperatorFailedError, `expected an OperatorFailedError, got ${Deno.inspect(error)}`);
  return error;
}

async function notesCluster(
  reconcile: Parameters<typeof recording>[0],
  options: Parameters<typeof memoryCluster>[0] = {},
): Promise<MemoryCluster> {
  const cluster = await memoryCluster({ parts: { notes: recording(reconcile).notes }, ...options });
  await cluster.create(Note, "a", { spec: {} });
  return cluster;
}

function throwRangeError(): never {
  throw new RangeError("out of bounds");
}

Deno.test("settle rejects when a reconcile throws, with its object, attempts and stack", async () => {
  await using cluster = await notesCluster(() => throwRangeError());

  const error = await failureOf(cluster.settle());

  assert.equal(error.code, "OperatorFailed");
  const [failure] = error.failures;
  assert(failure?.error instanceof RangeError);
  assert.deepEqual({ ...failure, error: undefined }, {
    operation: "reconcile",
    part: "notes",
    kind: "Note",
    namespace: "default",
    name: "a",
    attempt: 1,
    error: undefined,
  });
  for (
    const part of [
      '"notes"',
      'Note "default/a"',
      "attempts 1 to",
      "RangeError: out of bounds",
      "at throwRangeError (",
      "failures_test.ts",
    ]
  ) {
    assert(error.message.includes(part), `"${part}" is missing in: ${error.message}`);
  }
  assert(!error.message.includes("src/runtime/"), error.message);
});

Deno.test("advance rejects when the API server rejects what a reconcile sends", async () => {
  await using cluster = await notesCluster(({ metadata: { name } }, { apply }) => {
    return apply(ConfigMap, { metadata: { name }, data: { "not a key": "x" } }).then(() => {});
  });

  const error = await failureOf(cluster.advance("1m"));

  assert.equal((error.failures[0]?.error as { readonly status?: number }).status, 422);
});

Deno.test("settle rejects when a cleanup throws", async () => {
  const { notes } = recording(() => {}, { cleanup: () => throwRangeError() });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  await cluster.delete(Note, "a");

  assert.equal((await failureOf(cluster.settle())).failures[0]?.operation, "cleanup");
});

for (
  const { name, part, operation } of [
    {
      name: "a webhook",
      part: webhook(Note, { validate: () => throwRangeError() }),
      operation: "webhook",
    },
    {
      name: "a predicate",
      part: controller(Note, { watches: [watch(Note, { predicate: () => throwRangeError() })], reconcile() {} }),
      operation: "predicate",
    },
    {
      name: "a map",
      part: controller(Note, { watches: [watch(ConfigMap, { map: () => throwRangeError() })], reconcile() {} }),
      operation: "map of ConfigMap",
    },
    {
      name: "a source",
      part: controller(Note, { triggers: [source(() => throwRangeError())], reconcile() {} }),
      operation: "source",
    },
  ]
) {
  Deno.test(`settle rejects when ${name} throws`, async () => {
    await using cluster = await memoryCluster({ parts: { part }, kinds: [Note] });
    await cluster.settle({ allowFailures: true });
    await cluster.create(ConfigMap, "a", {});
    await cluster.create(Note, "a", { spec: {} }).catch(() => undefined);

    // Within this time, a failed source is started again.
    const { failures } = await failureOf(cluster.advance("1m"));

    assert.equal(failures[0]?.operation, operation);
    assert.equal(failures[0]?.part, "part");
  });
}

Deno.test("settle rejects when a conversion throws", async () => {
  const names = { group: "demo.example.com", kind: "Card" } as const;
  const CardV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
  const Card = resource({ ...names, version: "v2", spec: s.object({ text: s.string() }), versions: [CardV1] });
  const cards = conversion(CardV1, Card, { up: () => throwRangeError(), down: ({ spec }) => ({ spec }) });
  await using cluster = await memoryCluster({ parts: { cards } });
  await assert.rejects(cluster.create(CardV1, "a", { spec: { text: "x" } }));

  const error = await failureOf(cluster.settle());

  assert.equal(error.failures[0]?.operation, "conversion");
  assert.match(error.message, /at throwRangeError \(/);
});

Deno.test("settle does not reject after a TemporaryError or a PermanentError", async () => {
  await using cluster = await notesCluster(({ spec }) => {
    throw spec.text === "hello" ? new TemporaryError("not yet") : new PermanentError("never");
  });
  await cluster.settle();
  await cluster.patch(Note, "a", { spec: { text: "other" } });
  await cluster.settle();

  assert.deepEqual(cluster.failures, []);
});

Deno.test("settle does not reject after failures that an injected fault or a stopped server causes", async () => {
  await using cluster = await notesCluster(applyText);
  cluster.inject(faults.status(500), { verb: "patch", kind: ConfigMap, times: 2 });
  cluster.inject(faults.responseLost(), { verb: "patch", kind: ConfigMap, after: 2 });
  await cluster.settle();
  cluster.restartServer({ downFor: "10s" });
  await cluster.advance("1h");

  assert.deepEqual(cluster.failures, []);
  assert(await cluster.exists(ConfigMap, "a"));
});

Deno.test("settle rejects when a reconcile fails after the injected faults have ended", async () => {
  let isBroken = false;
  await using cluster = await notesCluster(async (note, context) => {
    await applyText(note, context);
    if (isBroken) throwRangeError();
  });
  cluster.inject(faults.status(500), { verb: "patch", kind: ConfigMap });
  await cluster.settle();
  isBroken = true;
  await cluster.patch(Note, "a", { spec: { text: "other" } });

  assert(await failureOf(cluster.settle()));
});

Deno.test("settle reports a missing permission as MissingPermissions, not as a failure", async () => {
  await using cluster = await notesCluster(applyText, { rbac: { without: ["patch configmaps"] } });

  await assert.rejects(cluster.settle(), { code: "MissingPermissions" });
  await cluster.settle();
  assert.deepEqual(cluster.failures, []);
});

Deno.test("settle does not reject after a conflict of two writers", async () => {
  const racing = controller(Note, {
    uses: [access(Note, "patch")],
    async reconcile({ metadata: { name } }, { patch, attempt }) {
      if (attempt < 3) await patch(Note, name, { metadata: { resourceVersion: "1", labels: { seen: "yes" } } });
    },
  });
  await using cluster = await memoryCluster({ parts: { racing } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();

  assert.deepEqual(cluster.failures, []);
});

Deno.test("disposing of the cluster throws failures that no settle reported", async () => {
  const cluster = await notesCluster(() => throwRangeError());
  await until(() => cluster.failures.length > 0);

  assert.equal((await failureOf(cluster[Symbol.asyncDispose]())).failures[0]?.name, "a");
});

Deno.test("disposing of the cluster does not repeat failures that settle reported", async () => {
  const cluster = await notesCluster(() => throwRangeError());
  await failureOf(cluster.settle());
  const { length } = cluster.failures;
  await cluster.patch(Note, "a", { spec: { text: "again" } });
  await until(() => cluster.failures.length > length);

  await cluster[Symbol.asyncDispose]();
});

Deno.test("settle with allowFailures resolves, and the next settle reports only new failures", async () => {
  await using cluster = await notesCluster(() => throwRangeError());
  await cluster.settle({ allowFailures: true });
  const { length } = cluster.failures;
  assert(length > 0);
  await cluster.patch(Note, "a", { spec: { text: "again" } });

  assert.equal((await failureOf(cluster.settle())).failures[0], cluster.failures[length]);
});

Deno.test('failures: "collect" fails neither settle nor disposing', async () => {
  await using cluster = await notesCluster(() => throwRangeError(), { failures: "collect" });
  await cluster.settle();
  await cluster.advance("1m");

  assert.equal(cluster.failures[0]?.name, "a");
});

Deno.test("the error of settle masks the data of Secrets", async () => {
  const leaking = controller(Note, {
    uses: [access(Secret, "get")],
    async reconcile({ metadata: { name } }, { get }) {
      const secret = await get(Secret, name);
      throw new Error(`cannot log in with ${atob(secret!.data!.password!)} (${secret!.data!.password})`, {
        cause: new Error(`${atob(secret!.data!.password!)} is wrong`),
      });
    },
  });
  await using cluster = await memoryCluster({ parts: { leaking } });
  await cluster.create(Secret, "a", { data: { password: btoa("hunter2 & co") } });
  await cluster.create(Note, "a", { spec: {} });

  const { message, stack } = await failureOf(cluster.settle());

  assert.match(message, /cannot log in with \*\*\* \(\*\*\*\)/);
  assert.match(message, /Caused by: Error: \*\*\* is wrong/);
  for (const text of [message, stack ?? ""]) {
    assert(!/hunter2/.test(text) && !text.includes(btoa("hunter2 & co")), text);
  }
});

Deno.test("the error of settle says when the operator also did not become idle", async () => {
  const { notes } = recording(async (note, { status }) => {
    status({ text: crypto.randomUUID() });
    await Promise.resolve();
    if (note.metadata.name === "bad") throwRangeError();
  });
  const restless = controller(Note, {
    uses: [access(Note, "patch")],
    async reconcile({ metadata: { name } }, { patch }) {
      await patch(Note, name, { spec: { text: crypto.randomUUID() } });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes, restless }, maxTurns: 300 });
  await cluster.create(Note, "bad", { spec: {} });

  assert.match((await failureOf(cluster.settle())).message, /The call failed as well: Cannot settle/);
});
