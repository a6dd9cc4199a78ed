/** Handlers on the API server in this process. */
import assert from "node:assert/strict";
import { memo, on, type Part, PermanentError, resource, s, TemporaryError } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster } from "@op/sdk/testing";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({
    replicas: s.integer({ default: 1 }),
    host: s.optional(s.string()),
    pages: s.optional(s.array(s.object({ path: s.string(), size: s.integer() }))),
  }),
  status: s.object({ url: s.optional(s.string()), size: s.optional(s.integer()) }),
});

async function started(parts: Record<string, Part>): Promise<MemoryCluster> {
  return await memoryCluster({ parts, failures: "collect" });
}

/** The writes of the operator since a number of requests. */
function writesOf(cluster: MemoryCluster, since = 0): string[] {
  return cluster.requests.slice(since).filter(({ verb, userAgent }) =>
    ["create", "update", "patch", "delete"].includes(verb) && userAgent.startsWith("test/")
  ).map(({ method, path }) => `${method} ${path}`);
}

Deno.test("a create handler is called once, and an update handler with the changes since its last call", async () => {
  const calls: unknown[] = [];
  await using cluster = await started({
    provision: on.create(Website, (site, { cause, attempt }) => void calls.push([cause, site.metadata.name, attempt])),
    resize: on.update(Website, (_site, { cause, old, current, diff }) => {
      calls.push([cause, old.spec.replicas, current.spec.replicas, [...diff].map(({ path }) => path.join("."))]);
    }),
  });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle();
  assert.deepEqual(calls.splice(0), [["create", "web", 1]]);

  await cluster.patch(Website, "web", { spec: { replicas: 3 } });
  await cluster.settle();
  assert.deepEqual(calls.splice(0), [["update", 1, 3, ["spec.replicas"]]]);

  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(calls, []);
});

Deno.test("a change while the operator is down is delivered with the state of the last call", async () => {
  const calls: unknown[] = [];
  const resize = on.field(Website, ".spec.replicas", (_site, { cause, old, current }) => {
    calls.push([cause, old, current]);
  });
  await using cluster = await started({ resize });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle();
  await cluster.patch(Website, "web", { spec: { replicas: 3 } });
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(calls, [["create", undefined, 1], ["update", 1, 3]]);
});

Deno.test("changes made while a handler fails are delivered together", async () => {
  const calls: unknown[] = [];
  let isDown = false;
  await using cluster = await started({
    resize: on.field(Website, ".spec.replicas", (_site, { old, current, attempt }) => {
      calls.push([old, current, attempt]);
      if (isDown) throw new TemporaryError("The scaler is down", { retry: "1m" });
    }),
  });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle();
  calls.length = 0;
  isDown = true;
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle({ allowFailures: true });
  isDown = false;
  await cluster.patch(Website, "web", { spec: { replicas: 3 } });
  await cluster.advance("2m");
  assert.deepEqual(calls, [[1, 2, 1], [1, 3, 2]]);
});

Deno.test("a failing handler delays no other, and Ready counts the handlers that failed", async () => {
  let isDown = true;
  await using cluster = await started({
    fails: on.create(Website, () => {
      if (isDown) throw new TemporaryError("The quota is used up", { retry: "1m" });
    }),
    works: on.create(Website, (_site, { status }) => status({ url: "https://web" })),
    unlucky: on.create(Website, () => {
      throw new PermanentError("The name is taken");
    }),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle({ allowFailures: true });
  const failed = await cluster.get(Website, "web");
  assert.equal(failed.status?.url, "https://web");
  const ready = failed.status?.conditions?.find(({ type }) => type === "Ready");
  assert.deepEqual([ready?.status, ready?.message], [
    "False",
    "2 of 3 handlers failed. fails: The quota is used up; unlucky: The name is taken",
  ]);

  isDown = false;
  await cluster.advance("2m");
  const stalled = (await cluster.get(Website, "web")).status?.conditions ?? [];
  assert.equal(
    stalled.find(({ type }) => type === "Ready")?.message,
    "1 of 3 handlers failed. unlucky: The name is taken",
  );
  assert.equal(stalled.find(({ type }) => type === "Stalled")?.status, "True");
});

Deno.test("the deletion of an object waits for its delete handlers", async () => {
  const calls: unknown[] = [];
  let isDown = true;
  await using cluster = await started({
    drop: on.delete(Website, (_site, { attempt }) => {
      calls.push(["drop", attempt]);
      if (isDown) throw new TemporaryError("The database is down", { retry: "1m" });
    }),
    unlink: on.delete(Website, () => void calls.push(["unlink"])),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  assert.deepEqual((await cluster.get(Website, "web")).metadata.finalizers, ["demo.example.com/test.handlers"]);
  await cluster.delete(Website, "web");
  await cluster.settle({ allowFailures: true });
  assert(await cluster.exists(Website, "web"));
  isDown = false;
  await cluster.advance("2m");
  assert(!await cluster.exists(Website, "web"));
  assert.deepEqual(calls, [["drop", 1], ["unlink"], ["drop", 2]]);
});

Deno.test("handlers of a kind of Kubernetes store their state in an annotation, with one write per change", async () => {
  const calls: unknown[] = [];
  await using cluster = await started({
    copy: on.field(ConfigMap, ".data.size", (_map, { old, current }) => void calls.push([old, current])),
  });
  await cluster.create(ConfigMap, "web", { data: { size: "1", other: "1" } });
  await cluster.settle();
  const { annotations = {} } = (await cluster.get(ConfigMap, "web")).metadata;
  assert.deepEqual(Object.keys(annotations), ["test.op/test.handler-state"]);
  assert.deepEqual(JSON.parse(annotations["test.op/test.handler-state"]!).observed, { data: { size: "1" } });

  const before = cluster.requests.length;
  await cluster.patch(ConfigMap, "web", { data: { other: "2" } });
  await cluster.settle();
  assert.deepEqual(writesOf(cluster, before), [], "another field is no change for the handler");

  await cluster.patch(ConfigMap, "web", { data: { size: "2" } });
  await cluster.settle();
  assert.deepEqual(calls, [[undefined, "1"], ["1", "2"]]);
  assert.equal(writesOf(cluster, before).length, 1);
});

Deno.test("steps of a handler that fails are not repeated", async () => {
  const calls: string[] = [];
  await using cluster = await started({
    provision: on.create(Website, async (_site, { step, attempt, status }) => {
      const id = await step("database", () => {
        calls.push("database");
        return "db-1";
      });
      calls.push(`attempt ${attempt}`);
      if (attempt < 3) throw new TemporaryError("Not yet", { retry: "1s" });
      status({ url: id });
    }),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle({ allowFailures: true });
  await cluster.advance("5s");
  assert.deepEqual(calls, ["database", "attempt 1", "attempt 2", "attempt 3"]);
  assert.equal((await cluster.get(Website, "web")).status?.url, "db-1");
});

Deno.test("a step that waits after a change of the object is not called before it is due", async () => {
  const calls: number[] = [];
  await using cluster = await started({
    provision: on.create(Website, async ({ spec: { replicas } }, { step }) => {
      calls.push(replicas);
      if (replicas === 1) throw new TemporaryError("One replica is not enough", { retry: "1h" });
      await step("database", () => {
        throw new Error("The database is down");
      }, { retries: 5, backoff: "10m" });
    }),
  });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle({ allowFailures: true });
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle({ allowFailures: true });
  assert.deepEqual(calls, [1, 2]);
  await cluster.advance("10m");
  assert.deepEqual(calls, [1, 2, 2]);
});

Deno.test("an item handler is called for each item that was added, changed or removed", async () => {
  const calls: unknown[] = [];
  const pages = on.item(Website, ".spec.pages", ({ path }) => path, (_site, { cause, item, old }) => {
    calls.push([cause, item.path, old?.size, item.size]);
  });
  await using cluster = await started({ pages });
  const [a, b, c] = [{ path: "/a", size: 1 }, { path: "/b", size: 1 }, { path: "/c", size: 1 }];
  await cluster.create(Website, "web", { spec: { pages: [a, b] } });
  await cluster.settle();
  await cluster.patch(Website, "web", { spec: { pages: [c, { ...b, size: 2 }] } });
  await cluster.settle();
  assert.deepEqual(calls, [
    ["added", "/a", undefined, 1],
    ["added", "/b", undefined, 1],
    ["removed", "/a", 1, 1],
    ["changed", "/b", 1, 2],
    ["added", "/c", undefined, 1],
  ]);
});

Deno.test("a handler follows a computed value", async () => {
  const calls: unknown[] = [];
  const big = on.change(Website, ({ spec }) => spec.replicas > 3, (_site, { old, current }) => {
    calls.push([old, current]);
  });
  await using cluster = await started({ big });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle();
  for (const replicas of [2, 5, 6]) {
    await cluster.patch(Website, "web", { spec: { replicas } });
    await cluster.settle();
  }
  assert.deepEqual(calls, [[undefined, false], [false, true]]);
});

Deno.test("a resume handler is called for objects that exist at start, and not for new ones", async () => {
  const calls: unknown[] = [];
  await using cluster = await started({
    resume: on.resume(Website, (site) => void calls.push(site.metadata.name)),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  assert.deepEqual(calls, []);
  const before = cluster.requests.length;
  await cluster.restart();
  await cluster.settle();
  assert.deepEqual(calls, ["web"]);
  assert.deepEqual(writesOf(cluster, before).filter((write) => !write.includes("lease")), []);
});

Deno.test("an afterDelete handler receives the last state of a deleted object, without a finalizer", async () => {
  const calls: unknown[] = [];
  const visits = memo(() => ({ count: 0 }));
  await using cluster = await started({
    count: on.create(Website, (_site, { memo }) => void memo(visits).count++),
    forget: on.afterDelete(Website, (site, { cause, memo }) => {
      calls.push([cause, site.spec.replicas, memo(visits).count, site.metadata.finalizers]);
    }),
  });
  await cluster.create(Website, "web", { spec: { replicas: 4 } });
  await cluster.settle();
  await cluster.delete(Website, "web");
  await cluster.settle();
  assert.deepEqual(calls, [["afterDelete", 4, 1, undefined]]);
});

Deno.test("a record that disappears is written again, and no create handler is called again", async () => {
  let created = 0;
  await using cluster = await started({ provision: on.create(ConfigMap, () => void created++) });
  await cluster.create(ConfigMap, "web", {});
  await cluster.settle();
  const strip = { metadata: { annotations: { "test.op/test.handler-state": null } } };
  await cluster.patch(ConfigMap, "web", strip);
  await cluster.settle();
  assert.equal(created, 1);
  assert.notEqual((await cluster.get(ConfigMap, "web")).metadata.annotations, undefined);

  await cluster.patch(ConfigMap, "web", strip);
  await cluster.settle({ allowFailures: true });
  assert.equal(created, 1);
  const [line] = cluster.logged.filter(({ level }) => level === "error");
  assert.match(String(line?.fields?.error), /the stored record disappeared twice/);
});

Deno.test("changes that are made while a create handler fails are delivered after its success", async () => {
  const calls: unknown[] = [];
  let isDown = true;
  await using cluster = await started({
    provision: on.create(Website, () => {
      if (isDown) throw new TemporaryError("The database is down", { retry: "10s" });
    }),
    first: on.create(Website, (site) => void calls.push(["create", site.spec.replicas])),
    resize: on.update(Website, (_site, { old, current }) => {
      calls.push(["update", old.spec.replicas, current.spec.replicas]);
    }),
  });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle({ allowFailures: true });
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle({ allowFailures: true });
  assert.deepEqual(calls, [["create", 1]]);
  isDown = false;
  await cluster.advance("20s");
  assert.deepEqual(calls, [["create", 1], ["update", 1, 2]]);
});

Deno.test("parallel steps that fail with a TemporaryError are retried after its delay, as an expected error", async () => {
  const calls: string[] = [];
  let isDown = true;
  await using cluster = await started({
    provision: on.create(Website, async (_site, { steps, status }) => {
      const { url } = await steps({
        url: () => {
          calls.push("url");
          if (isDown) throw new TemporaryError("The DNS is down", { retry: "30s" });
          return "https://web";
        },
        size: () => void calls.push("size"),
      });
      status({ url });
    }),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle({ allowFailures: true });
  const { conditions = [] } = (await cluster.get(Website, "web")).status ?? {};
  assert.equal(conditions.find(({ type }) => type === "Ready")?.reason, "TemporaryError");
  isDown = false;
  await cluster.advance("29s");
  assert.deepEqual(calls, ["url", "size"]);
  await cluster.advance("1s");
  assert.deepEqual(calls, ["url", "size", "url"]);
  assert.equal((await cluster.get(Website, "web")).status?.url, "https://web");
});

Deno.test("an object that no handler matches gets no status, log line or memo", async () => {
  const created = memo(() => {
    throw new Error("no memo is needed");
  });
  await using cluster = await started({
    web: on.create(Website, (_site, { memo }) => memo(created), { labels: { app: "web" } }),
    big: on.update(Website, (_site, { memo }) => memo(created), { when: ({ spec }) => spec.replicas > 3 }),
  });
  await cluster.settle();
  const lines = cluster.logged.length;
  const before = cluster.requests.length;
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle();
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle();
  assert.equal((await cluster.get(Website, "web")).status, undefined);
  assert.deepEqual(writesOf(cluster, before), []);
  assert.deepEqual(cluster.logged.slice(lines), []);
});

Deno.test("a selected value that is not JSON is reported with its handler, and the handler is not called", async () => {
  let calls = 0;
  await using cluster = await started({
    // Not type-checked, as in a JavaScript program.
    pages: on.change(
      Website,
      (({ spec }: { spec: object }) => new Map(Object.entries(spec))) as never,
      () => void calls++,
    ),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle({ allowFailures: true });
  const { conditions = [] } = (await cluster.get(Website, "web")).status ?? {};
  assert.match(
    conditions.find(({ type }) => type === "Ready")?.message ?? "",
    /"pages" selects cannot be stored as JSON/,
  );
  assert.equal(calls, 0);
});
