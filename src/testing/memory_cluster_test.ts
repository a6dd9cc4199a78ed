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

/** A controller that copies notes, and counts its runs. */
function counting(outcome: (runs: number) => ReturnType<typeof requeue> | undefined = () => undefined) {
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

Deno.test("memoryCluster: every call of the operator goes through (Request) => Response, and no socket is opened", async () => {
  const opened: string[] = [];
  using _fetch = replaced(globalThis, "fetch", (input: unknown) => {
    opened.push(String(input));
    throw new Error("a call went round the server");
  });
  using _connect = replaced(Deno, "connect", () => {
    opened.push("connect");
    throw new Error("a call went round the server");
  });
  using _client = replaced(Deno, "createHttpClient", () => {
    opened.push("createHttpClient");
    throw new Error("a call went round the server");
  });
  const { notes } = counting();
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "x" } });
  await cluster.settle();

  assert.deepEqual(opened, []);
  const ours = cluster.requests.filter(({ userAgent }) => userAgent === "test/0.0.0").map(({ method, path }) =>
    `${method} ${path.split("?")[0]}`
  );
  assert.deepEqual(ours, [
    "GET /apis/test.example.com/v1/notes",
    "GET /api/v1/configmaps",
    "PATCH /api/v1/namespaces/default/configmaps/a",
    "PATCH /apis/test.example.com/v1/namespaces/default/notes/a/status",
  ]);
});

Deno.test("memoryCluster: a day with backoffs and requeues waits for no real time", async () => {
  const { count, notes } = counting((runs) => {
    if (runs % 3 === 0) throw new TemporaryError("later", { retry: "7m" });
    return requeue("10m");
  });
  const waits: unknown[] = [];
  using _timeout = replaced(globalThis, "setTimeout", (...args: unknown[]) => {
    waits.push(args[1]);
    throw new Error("something waits for real time");
  });
  using _interval = replaced(globalThis, "setInterval", (...args: unknown[]) => {
    waits.push(args[1]);
    throw new Error("something waits for real time");
  });
  using _now = replaced(Date, "now", () => {
    waits.push("Date.now");
    return 0;
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.settle();
  assert.equal(count.runs, 1);

  await cluster.advance("24h");

  // Two requeues of ten minutes and one retry of seven, over and over: 27 minutes for three runs.
  assert.equal(count.runs, Math.floor(24 * 60 / 27) * 3 + 1);
  assert.equal(cluster.clock.now(), Date.UTC(2030, 0, 2));
  assert.deepEqual(waits, []);
});

Deno.test("memoryCluster.settle waits for real work of user code that is not ours", async () => {
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

Deno.test("memoryCluster.settle says who is busy when objects never come to rest", async () => {
  const notes = controller(Note, {
    reconcile: () => requeue("0s"),
  });
  await using cluster = await memoryCluster({ parts: { notes }, maxTurns: 1000 });
  await cluster.create(Note, "restless", { spec: {} });
  await assert.rejects(cluster.settle(), /Cannot settle: .*notes.*restless/);
});

Deno.test("memoryCluster.restart lists anew and writes nothing when all is as wanted", async () => {
  const { count, notes } = counting(() => undefined);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "x" } });
  await cluster.settle();
  const before = cluster.requests.length;
  count.runs = 0; // the status would say 1 again

  await cluster.restart();
  await cluster.settle();

  assert.equal(count.runs, 1);
  assert.deepEqual(cluster.requests.slice(before).filter(({ method }) => method !== "GET"), []);
});

Deno.test("memoryCluster reads live what is only in uses", async () => {
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
  assert(cluster.requests.every(({ path }) => !path.startsWith("/api/v1/secrets")), "nothing watches Secrets");
});

Deno.test("memoryCluster with endpoints: a webhook of a service is asked in this process", async () => {
  const asked: string[] = [];
  await using cluster = await memoryCluster({
    endpoints: {
      async "default/guard"(request) {
        const review = await request.json();
        asked.push(review.request.name);
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
  assert.deepEqual(asked, ["good", "bad"]);
});

/** Puts another function in place of one, until it is disposed of. */
function replaced<T extends object, K extends keyof T>(holder: T, name: K, value: unknown): Disposable {
  const original = holder[name];
  holder[name] = value as T[K];
  return { [Symbol.dispose]: () => void (holder[name] = original) };
}

Deno.test("memoryCluster runs its operator as an operator.toml has it: where it looks, and whether it begins anything", async () => {
  const { notes, count } = counting();
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
    const rolled = await cluster.client.list(RoleBinding, { namespace: "three" });
    assert.deepEqual(rolled, [], "it has rights where it looks, and nowhere else");
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
    message: 'Cannot read "operator.toml": "pausd" is no key: did you mean "paused"?',
  });
});

Deno.test("memoryCluster shows what the operator logged and counted, also by metrics of its own", async () => {
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

  const told = cluster.logged.filter(({ fields }) => fields.name !== undefined)
    .map(({ level, message, fields }) => [level, message, fields.name, fields.keys ?? fields.error]);
  assert.deepEqual(told, [["info", "Looked", "good", 0], ["error", "Reconcile failed", "bad", "not yet"]]);
  const lines = (await cluster.metrics()).split("\n");
  for (const result of ["good", "bad"]) assert(lines.includes(`looks_total{result="${result}"} 1`), lines.join("\n"));
  assert(lines.includes('controller_runtime_reconcile_errors_total{controller="maps"} 1'));
});
