/** Handlers whose calls, writes or functions fail, on the API server in this process. */
import assert from "node:assert/strict";
import { on, type Part, resource, s, TemporaryError } from "@op/sdk";
import { ConfigMap, Event } from "@op/sdk/kinds";
import { faults, type MemoryCluster, memoryCluster } from "@op/sdk/testing";

const Website = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Website",
  spec: s.object({ replicas: s.integer({ default: 1 }) }),
  status: s.object({ url: s.optional(s.string()) }),
});

const CONFLICT = {
  name: "conflict",
  respond: () =>
    Response.json(
      { kind: "Status", status: "Failure", reason: "Conflict", code: 409, message: "the object has been modified" },
      { status: 409 },
    ),
};

async function started(parts: Record<string, Part>): Promise<MemoryCluster> {
  return await memoryCluster({ parts, failures: "collect" });
}

async function readyOf(cluster: MemoryCluster) {
  return (await cluster.get(Website, "web")).status?.conditions?.find(({ type }) => type === "Ready");
}

for (const [name, fault] of Object.entries({ "is rejected": faults.status(500), "conflicts": CONFLICT })) {
  Deno.test(`a write that ${name} loses no status of a handler, which is not called again`, async () => {
    let calls = 0;
    await using cluster = await started({
      provision: on.create(Website, (_site, { status }) => {
        calls++;
        status({ url: "https://web" });
      }),
    });
    using _ = cluster.inject(fault, { client: "test", kind: Website, verb: "patch", times: 2 });
    await cluster.create(Website, "web", { spec: {} });
    await cluster.settle({ allowFailures: true });
    await cluster.advance("1m");
    assert.equal((await cluster.get(Website, "web")).status?.url, "https://web");
    assert.equal(calls, 1);
    await cluster.restart();
    await cluster.settle();
    assert.equal(calls, 1);
  });
}

Deno.test("a call that starts again after it gave up has the whole totalTimeout", async () => {
  const attempts: number[] = [];
  await using cluster = await started({
    provision: on.field(Website, ".spec.replicas", (_site, { attempt }) => {
      attempts.push(attempt);
      throw new TemporaryError("The quota is used up", { retry: "20s" });
    }, { totalTimeout: "30s" }),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle({ allowFailures: true });
  await cluster.advance("10m");
  assert.deepEqual(attempts.splice(0), [1, 2, 3]);
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.advance("10m");
  assert.deepEqual(attempts, [1, 2, 3]);
});

Deno.test("a write conflict in a handler is retried without a report", async () => {
  let calls = 0;
  await using cluster = await started({
    provision: on.create(Website, async ({ metadata: { name } }, { apply }) => {
      calls++;
      await apply(ConfigMap, { metadata: { name } });
    }, { owns: [ConfigMap] }),
  });
  using _ = cluster.inject(CONFLICT, { client: "test", kind: ConfigMap, verb: "patch", times: 1 });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  await cluster.advance("1s");
  assert.equal(calls, 2);
  assert.equal((await readyOf(cluster))?.status, "True");
  assert.deepEqual(await cluster.list(Event), []);
  assert.deepEqual(cluster.logged.filter(({ level }) => level === "error"), []);
});

Deno.test("a filter that throws an error is reported in Ready, and its handler is called later", async () => {
  const calls: number[] = [];
  await using cluster = await started({
    resize: on.field(Website, ".spec.replicas", (_site, { current }) => void calls.push(current!), {
      when: ({ spec }) => {
        if (spec.replicas === 2) throw new RangeError("2 is not supported");
        return true;
      },
    }),
  });
  await cluster.create(Website, "web", { spec: { replicas: 1 } });
  await cluster.settle();
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle({ allowFailures: true });
  const ready = await readyOf(cluster);
  assert.deepEqual([ready?.status, ready?.message], ["False", "1 of 1 handlers failed. resize: 2 is not supported"]);
  await cluster.patch(Website, "web", { spec: { replicas: 3 } });
  await cluster.settle();
  assert.deepEqual(calls, [1, 3]);
  assert.equal((await readyOf(cluster))?.status, "True");
});

Deno.test("the deletion waits for a delete handler whose filter throws an error", async () => {
  const calls: string[] = [];
  let isBroken = false;
  const when = () => {
    if (isBroken) throw new Error("The filter is broken");
    return true;
  };
  await using cluster = await started({
    first: on.delete(Website, () => void calls.push("first")),
    second: on.delete(Website, () => void calls.push("second"), { when }),
  });
  await cluster.create(Website, "web", { spec: {} });
  await cluster.settle();
  isBroken = true;
  await cluster.delete(Website, "web");
  await cluster.settle({ allowFailures: true });
  assert(await cluster.exists(Website, "web"));
  isBroken = false;
  await cluster.patch(Website, "web", { spec: { replicas: 2 } });
  await cluster.settle();
  assert(!await cluster.exists(Website, "web"));
  assert.deepEqual(calls, ["first", "second"]);
});

Deno.test("a record with characters that Go escapes does not depend on the version of the object", async () => {
  const calls: unknown[] = [];
  await using cluster = await started({
    copy: on.field(ConfigMap, ".data.html", (_map, { current }) => void calls.push(current)),
  });
  await cluster.create(ConfigMap, "web", { data: { html: "<b>&</b>" } });
  await cluster.settle();
  await cluster.patch(ConfigMap, "web", { data: { html: "<i>" } });
  await cluster.settle();
  assert.deepEqual(calls, ["<b>&</b>", "<i>"]);
  const record = (await cluster.get(ConfigMap, "web")).metadata.annotations?.["test.op/test.handler-state"] ?? "";
  assert.doesNotMatch(record, /[<>&]/);
  assert.deepEqual(JSON.parse(record).observed, { data: { html: "<i>" } });
});
