/** The facts in docs/guides/handlers.md that its examples do not show. */
import assert from "node:assert/strict";
import { type AnyKind, memo, on, type Part, PermanentError, requeue, resource, s, TemporaryError } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ replicas: s.integer({ default: 1 }), host: s.optional(s.string()) }),
  status: s.object({ url: s.optional(s.string()) }),
});

const FAILURES = { allowFailures: true };

async function started(parts: Record<string, Part>): Promise<MemoryCluster> {
  return await memoryCluster({ parts, failures: "collect" });
}

/** Counts the writes of the operator during an action, without the Lease and Events. */
async function writesDuring(cluster: MemoryCluster, action: () => Promise<unknown>): Promise<number> {
  const before = cluster.requests.length;
  await action();
  await cluster.settle();
  return cluster.requests.slice(before).filter(({ verb, userAgent, path }) =>
    ["create", "update", "patch", "delete"].includes(verb) && userAgent.startsWith("test/") &&
    !/\/(leases|events)\b/.test(path)
  ).length;
}

interface Costs {
  readonly creation: number;
  readonly change: number;
  readonly labels: number;
  readonly restart: number;
  readonly deletion: number;
}

async function costsOf(kind: AnyKind, fields: object, change: object, parts: Record<string, Part>): Promise<Costs> {
  await using cluster = await started(parts);
  const untyped = kind as typeof ConfigMap;
  const costs = {
    creation: await writesDuring(cluster, () => cluster.create(untyped, "web", fields)),
    change: await writesDuring(cluster, () => cluster.patch(untyped, "web", change)),
    labels: await writesDuring(cluster, () => cluster.patch(untyped, "web", { metadata: { labels: { app: "web" } } })),
    restart: await writesDuring(cluster, () => cluster.restart()),
    deletion: await writesDuring(cluster, () => cluster.delete(untyped, "web")),
  };
  return costs;
}

Deno.test("handlers cost the writes in the guide", async () => {
  const handlers = (kind: AnyKind) => ({ a: on.create(kind, () => {}), b: on.update(kind, () => {}) });
  const website = [Website, { spec: {} }, { spec: { replicas: 2 } }] as const;
  const configMap = [ConfigMap, { data: { a: "1" } }, { data: { a: "2" } }] as const;
  const noChange = { labels: 0, restart: 0, deletion: 0 };
  assert.deepEqual(await costsOf(...website, { a: on.resume(Website, () => {}) }), {
    creation: 0,
    change: 0,
    ...noChange,
  });
  assert.deepEqual(await costsOf(...website, handlers(Website)), {
    creation: 1,
    change: 1,
    labels: 1,
    restart: 0,
    deletion: 0,
  });
  const resize = on.field(Website, ".spec.replicas", () => {});
  assert.deepEqual(await costsOf(...website, { resize }), { creation: 1, change: 1, ...noChange });
  assert.deepEqual(
    await costsOf(...configMap, { a: on.resume(ConfigMap, () => {}), b: on.afterDelete(ConfigMap, () => {}) }),
    { creation: 0, change: 0, ...noChange },
  );
  assert.deepEqual(await costsOf(...configMap, handlers(ConfigMap)), {
    creation: 1,
    change: 1,
    labels: 1,
    restart: 0,
    deletion: 0,
  });
  assert.deepEqual(await costsOf(...configMap, { ...handlers(ConfigMap), c: on.delete(ConfigMap, () => {}) }), {
    creation: 2,
    change: 1,
    labels: 1,
    restart: 0,
    deletion: 1,
  });
});

Deno.test("a child of a create handler is not restored", async () => {
  const provision = on.create(Website, async ({ metadata: { name } }, { apply }) => {
    await apply(ConfigMap, { metadata: { name } });
  }, { owns: [ConfigMap] });
  await using cluster = await started({ provision });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  await cluster.delete(ConfigMap, "web");
  await cluster.settle();
  await cluster.restart();
  await cluster.settle();
  assert.equal(await cluster.exists(ConfigMap, "web"), false);
});

Deno.test("an object for which a delete handler gave up stays, unless deletion is allowed", async () => {
  const fail = () => {
    throw new PermanentError("The provider has no such database");
  };
  for (const onFailure of ["blockDeletion", "allowDeletion"] as const) {
    await using cluster = await started({ drop: on.delete(Website, fail, { onFailure }) });
    await cluster.create(Website, "web", { spec: {} });
    await cluster.settle();
    await cluster.delete(Website, "web");
    await cluster.settle(FAILURES);
    await cluster.advance("2h");
    assert.equal(await cluster.exists(Website, "web"), onFailure === "blockDeletion");
  }
});

Deno.test("an afterDelete handler is not retried", async () => {
  let calls = 0;
  const announce = on.afterDelete(Website, () => {
    calls++;
    throw new Error("The receiver is down");
  });
  await using cluster = await started({ announce });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  await cluster.delete(Website, "web");
  await cluster.settle(FAILURES);
  await cluster.advance("1h");
  assert.equal(calls, 1);
});

Deno.test("a change that the filter of a field excludes counts as handled", async () => {
  const calls: unknown[] = [];
  const grow = on.field(Website, ".spec.replicas", (_site, { old, current }) => void calls.push([old, current]), {
    to: (replicas) => replicas !== undefined && replicas > 10,
  });
  await using cluster = await started({ grow });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  for (const replicas of [5, 20]) {
    await cluster.patch(Website, "web", { spec: { replicas } });
    await cluster.settle();
  }
  assert.deepEqual(calls, [[5, 20]]);
});

Deno.test("an object that matches later for the first time is created, and then continues", async () => {
  const calls: unknown[] = [];
  const resize = on.field(Website, ".spec.replicas", (_site, { cause, old, current }) => {
    calls.push([cause, old, current]);
  }, { labels: { app: "web" } });
  await using cluster = await started({ resize });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  assert.deepEqual(calls, []);
  for (const patch of [{ app: "web" }, { app: null }, undefined, { app: "web" }]) {
    await cluster.patch(
      Website,
      "web",
      patch === undefined ? { spec: { replicas: 7 } } : { metadata: { labels: patch } },
    );
    await cluster.settle();
  }
  assert.deepEqual(calls, [["create", undefined, 1], ["update", 1, 7]]);
});

Deno.test("attempts are counted across restarts, and a change starts the call again", async () => {
  const attempts: number[] = [];
  const register = on.create(Website, (_site, { attempt }) => {
    attempts.push(attempt);
    throw new Error("The provider is down");
  }, { retries: 3, backoff: "10s" });
  await using cluster = await started({ register });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle(FAILURES);
  await cluster.restart();
  await cluster.settle(FAILURES);
  await cluster.advance("1h");
  assert.deepEqual(attempts, [1, 2, 3]);
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle(FAILURES);
  assert.deepEqual(attempts, [1, 2, 3, 1]);
});

Deno.test("the first failure after totalTimeout is the last attempt", async () => {
  const elapsed: number[] = [];
  const register = on.create(Website, (_site, context) => {
    elapsed.push(context.elapsed);
    throw new Error("The provider is down");
  }, { totalTimeout: "25s", backoff: "10s" });
  await using cluster = await started({ register });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle(FAILURES);
  await cluster.advance("1h");
  assert.deepEqual(elapsed, [0, 10_000, 20_000, 30_000]);
});

Deno.test("errors decides what other errors mean, and requeue is no failure", async () => {
  const calls: string[] = [];
  const fail = (name: string) => () => {
    calls.push(name);
    throw new Error("Unexpected");
  };
  let polls = 0;
  await using cluster = await started({
    permanent: on.create(Website, fail("permanent"), { errors: "permanent" }),
    ignored: on.create(Website, fail("ignored"), { errors: "ignored" }),
    poll: on.create(Website, (_site, { attempt }) => {
      calls.push(`poll ${attempt}`);
      return ++polls < 3 ? requeue("30s") : undefined;
    }),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle(FAILURES);
  await cluster.advance("1h");
  assert.deepEqual(calls, ["permanent", "ignored", "poll 1", "poll 1", "poll 1"]);
});

Deno.test("only a change of what a handler follows ends its wait", async () => {
  const calls: unknown[] = [];
  const resize = on.field(Website, ".spec.replicas", (_site, { attempt, current }) => {
    calls.push([attempt, current]);
    throw new TemporaryError("The provider is down", { retry: "1h" });
  });
  await using cluster = await started({ resize });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle(FAILURES);
  for (const spec of [{ host: "web" }, { replicas: 3 }]) {
    await cluster.patch(Website, "web", { spec });
    await cluster.settle(FAILURES);
  }
  assert.deepEqual(calls, [[1, 1], [2, 3]]);
});

Deno.test("a step with retries waits alone, and lifetime keeps its result for the next call", async () => {
  const calls: string[] = [];
  let isDown = true;
  const publish = on.anyOf(["create", "update"], Website, async (_site, { step, attempt }) => {
    calls.push(`handler ${attempt}`);
    await step("account", () => void calls.push("account"), { lifetime: "object" });
    await step("upload", () => void calls.push("upload"));
    await step("domain", ({ attempt }) => {
      calls.push(`domain ${attempt}`);
      if (isDown) throw new Error("The provider is down");
    }, { retries: 3, backoff: "10s" });
  });
  await using cluster = await started({ publish });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  isDown = false;
  await cluster.advance("1m");
  assert.deepEqual(calls.splice(0), ["handler 1", "account", "upload", "domain 1", "handler 1", "domain 2"]);
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle();
  assert.deepEqual(calls, ["handler 1", "upload", "domain 1"]);
});

Deno.test("a memo is disposed of after the deletion of its object", async () => {
  const calls: unknown[] = [];
  const changes = memo(() => ({ count: 0, [Symbol.dispose]: () => void calls.push("disposed") }));
  await using cluster = await started({
    provision: on.create(Website, (_site, { memo }) => void memo(changes).count++),
    audit: on.update(Website, (_site, { memo }) => void calls.push(++memo(changes).count)),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle();
  await cluster.delete(Website, "web");
  await cluster.settle();
  assert.deepEqual(calls, [2, "disposed"]);
});

Deno.test("state in memory makes all objects new after a restart", async () => {
  let calls = 0;
  const provision = on.create(ConfigMap, () => void calls++, { storage: "memory" });
  await using cluster = await started({ provision });
  await cluster.create(ConfigMap, "web", {});
  await cluster.settle();
  assert.equal((await cluster.get(ConfigMap, "web")).metadata.annotations, undefined);
  await cluster.restart();
  await cluster.settle();
  assert.equal(calls, 2);
});
