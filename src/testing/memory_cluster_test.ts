import assert from "node:assert/strict";
import { ConfigMap, RoleBinding, Secret, ValidatingWebhookConfiguration } from "../kinds/mod.ts";
import { operator } from "../operator/operator.ts";
import { access } from "../parts/access.ts";
import { controller } from "../parts/controller.ts";
import { requeue, TemporaryError } from "../parts/outcome.ts";
import type { Counter } from "../parts/metrics.ts";
import { resource } from "../resource/mod.ts";
import { s } from "../schema/mod.ts";
import { memoryCluster } from "./memory_cluster.ts";

const Note = resource({
  group: "test.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string({ default: "empty" }) }),
  status: s.object({ runs: s.optional(s.integer()) }),
});

/** Returns a controller that copies notes and counts its reconciles. */
function countingController(outcome: (runs: number) => ReturnType<typeof requeue> | undefined = () => undefined) {
  const count = { runs: 0 };
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note, { apply, status }) {
      count.runs++;
      await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
      status({ runs: count.runs });
      return outcome(count.runs);
    },
  });
  return { count, notes };
}

Deno.test("memoryCluster sends all requests through cluster.fetch and opens no socket", async () => {
  const opened: string[] = [];
  using _fetch = replaceProperty(globalThis, "fetch", (input: unknown) => {
    opened.push(String(input));
    throw new Error("a request bypassed the server");
  });
  using _connect = replaceProperty(Deno, "connect", () => {
    opened.push("connect");
    throw new Error("a request bypassed the server");
  });
  using _client = replaceProperty(Deno, "createHttpClient", () => {
    opened.push("createHttpClient");
    throw new Error("a request bypassed the server");
  });
  const { notes } = countingController();
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "x" } });
  await cluster.settle();

  assert.deepEqual(opened, []);
  const sent = cluster.requests.filter(({ userAgent }) => userAgent === "test/0.0.0").map(({ method, path }) =>
    `${method} ${path.split("?")[0]}`
  );
  assert.deepEqual(sent, [
    "GET /apis/test.example.com/v1/notes",
    "GET /api/v1/configmaps",
    "PATCH /api/v1/namespaces/default/configmaps/a",
    "PATCH /apis/test.example.com/v1/namespaces/default/notes/a/status",
  ]);
});

Deno.test("a day with backoffs and requeues uses no timers and does not read the system clock", async () => {
  const { count, notes } = countingController((runs) => {
    if (runs % 3 === 0) throw new TemporaryError("later", { retry: "7m" });
    return requeue("10m");
  });
  const waits: unknown[] = [];
  using _timeout = replaceProperty(globalThis, "setTimeout", (...args: unknown[]) => {
    waits.push(args[1]);
    throw new Error("something waited for real time");
  });
  using _interval = replaceProperty(globalThis, "setInterval", (...args: unknown[]) => {
    waits.push(args[1]);
    throw new Error("something waited for real time");
  });
  using _now = replaceProperty(Date, "now", () => {
    waits.push("Date.now");
    return 0;
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal(count.runs, 1);

  await cluster.advance("24h");

  // Two requeues of ten minutes and one retry of seven: 27 minutes for three reconciles.
  assert.equal(count.runs, Math.floor(24 * 60 / 27) * 3 + 1);
  assert.equal(cluster.clock.now(), Date.UTC(2030, 0, 2));
  assert.deepEqual(waits, []);
});

Deno.test("settle waits for asynchronous work outside the cluster", async () => {
  const notes = controller(Note, {
    async reconcile(_note, { status }) {
      const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(100_000));
      status({ runs: digest.byteLength });
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal((await cluster.get(Note, "a")).status?.runs, 32);
});

Deno.test("settle names the object that is never idle", async () => {
  const notes = controller(Note, {
    reconcile: () => requeue("0s"),
  });
  await using cluster = await memoryCluster({ parts: { notes }, maxTurns: 1000 });
  await cluster.create(Note, "restless", { spec: {} });
  await assert.rejects(cluster.settle(), /Cannot settle: .*notes.*restless/);
});

Deno.test("restart reconciles every object again, and sends no writes for unchanged objects", async () => {
  const { count, notes } = countingController(() => undefined);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "x" } });
  await cluster.settle();
  const before = cluster.requests.length;
  count.runs = 0; // So that the status is 1 again.

  await cluster.restart();
  await cluster.settle();

  assert.equal(count.runs, 1);
  assert.deepEqual(cluster.requests.slice(before).filter(({ method }) => method !== "GET"), []);
});

Deno.test('a kind that is only in "uses" is read from the API server, without a watch', async () => {
  let read: string | undefined = "not read";
  const notes = controller(Note, {
    uses: [access(Secret, "get")],
    async reconcile(note, { get }) {
      read = (await get(Secret, note.spec.text))?.type;
    },
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Secret, "key", { type: "example.com/key", stringData: { key: "value" } });
  await cluster.create(Note, "a", { spec: { text: "key" } });
  await cluster.settle();
  assert.equal(read, "example.com/key");
  assert(cluster.requests.every(({ path }) => !path.startsWith("/api/v1/secrets")), "Secrets are not watched");
});

Deno.test("a webhook with a service is called through the option endpoints", async () => {
  const reviewed: string[] = [];
  await using cluster = await memoryCluster({
    endpoints: {
      async "default/guard"(request) {
        const review = await request.json();
        reviewed.push(review.request.name);
        const allowed = review.request.name !== "bad";
        const response = { uid: review.request.uid, allowed, status: { message: "a bad name" } };
        return Response.json({ ...review, response });
      },
    },
  });
  await cluster.client.create(ValidatingWebhookConfiguration, {
    metadata: { name: "guard" },
    webhooks: [{
      name: "guard.example.com",
      clientConfig: { service: { namespace: "default", name: "guard", path: "/names" } },
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    }],
  });

  await cluster.create(ConfigMap, "good", {});
  await assert.rejects(cluster.create(ConfigMap, "bad", {}), /denied the request: a bad name/);
  assert.deepEqual(reviewed, ["good", "bad"]);
});

/** Replaces a property until it is disposed of. */
function replaceProperty<T extends object, K extends keyof T>(object: T, name: K, value: unknown): Disposable {
  const original = object[name];
  object[name] = value as T[K];
  return { [Symbol.dispose]: () => void (object[name] = original) };
}

Deno.test("the option config sets namespaces, selector and pause as operator.toml does", async () => {
  const { notes, count } = countingController();
  const config = `
    [operator]
    namespaces = ["one", "two"]
    selector = "watch=yes"
  `;
  const labels = { watch: "yes" };
  const namespaces = ["one", "two", "three"];
  {
    await using cluster = await memoryCluster({ parts: { notes }, config, namespaces });
    for (const namespace of namespaces) {
      await cluster.create(Note, "a", { metadata: { labels }, spec: {} }, { namespace });
      await cluster.create(Note, "b", { spec: {} }, { namespace });
    }
    await cluster.settle();
    const copies = await Promise.all(namespaces.map((namespace) => cluster.list(ConfigMap, { namespace })));
    const names = copies.map((maps) => maps.map(({ metadata }) => metadata.name).filter((name) => /^[ab]$/.test(name)));
    assert.deepEqual(names, [["a"], ["a"], []]);
    const bindings = await cluster.client.list(RoleBinding, { namespace: "three" });
    assert.deepEqual(bindings, [], "the operator has roles only in its namespaces");
  }
  {
    count.runs = 0;
    await using cluster = await memoryCluster({ parts: { notes }, config: "[operator]\npaused = true\n" });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.settle();
    assert.equal(count.runs, 0);
  }
  await assert.rejects(memoryCluster({ parts: { notes }, config: "[operator]\npausd = true\n" }), {
    name: "SettingError",
    message: 'Cannot read "operator.toml": unknown key "pausd". Did you mean "paused"?',
  });
});

Deno.test("memoryCluster returns the log and all metrics of the operator", async () => {
  interface Services {
    readonly looks: Counter<"result">;
  }
  const maps = controller.with<Services>()(ConfigMap, {
    reconcile({ metadata }, { log, services }) {
      services.looks.add(1, { result: metadata.name === "bad" ? "bad" : "good" });
      if (metadata.name === "bad") throw new TemporaryError("not yet", { retry: "1h" });
      log.info("Looked", { keys: 0 });
    },
  });
  const watcher = operator({
    name: "watcher",
    parts: { maps },
    services: ({ metrics }) => ({ looks: metrics.counter("looks_total", "Looks", { labels: ["result"] }) }),
  });
  await using cluster = await memoryCluster({ operator: watcher });
  await cluster.create(ConfigMap, "good", {});
  await cluster.create(ConfigMap, "bad", {});
  await cluster.settle();

  const lines = cluster.logged.filter(({ fields }) => fields.name !== undefined)
    .map(({ level, message, fields }) => [level, message, fields.name, fields.keys ?? fields.error]);
  assert.deepEqual(lines, [["info", "Looked", "good", 0], ["error", "Reconcile failed", "bad", "not yet"]]);
  const metrics = (await cluster.metrics()).split("\n");
  for (const result of ["good", "bad"]) {
    assert(metrics.includes(`looks_total{result="${result}"} 1`), metrics.join("\n"));
  }
  assert(metrics.includes('controller_runtime_reconcile_errors_total{controller="maps"} 1'));
});
