/**
 * Objects that are reconciled again and again are slowed and reported, and other objects are not.
 */
import assert from "node:assert/strict";
import { access, controller, requeue, TemporaryError } from "@op/sdk";
import { ConfigMap, Secret } from "@op/sdk/kinds";
import { type MemoryCluster, memoryCluster, type MemoryClusterOptions } from "@op/sdk/testing";
import { Event } from "../../src/kinds/events_v1.gen.ts";
import { BURST } from "../../src/queue/loop_limit.ts";
import { conditions, Note, type NoteContext, recording, writes } from "../fixtures/notes.ts";
import { assertGolden } from "../fixtures/golden.ts";

/**
 * Creates a controller that writes a string into a child. Two of them with different strings
 * overwrite each other's value until the text of the object is "peace".
 */
function textController(text: string) {
  const runs: string[] = [];
  const part = controller(Note, {
    owns: [ConfigMap],
    async reconcile({ metadata: { name }, spec }, { apply }) {
      runs.push(name);
      if (spec.text !== "peace") await apply(ConfigMap, { metadata: { name }, data: { text } });
    },
  });
  return { runs, part };
}

/**
 * Creates two controllers that trigger each other, since each writes a new value into the status.
 */
function controllersTriggeringEachOther() {
  const total = { reconciles: 0 };
  const counting = (field: "text" | "runs") =>
    controller(Note, {
      reconcile(_note, { status }) {
        total.reconciles++;
        status(field === "runs" ? { runs: total.reconciles } : { text: String(total.reconciles) });
      },
    });
  return { total, parts: { ping: counting("runs"), pong: counting("text") } };
}

const FIGHT_MESSAGE =
  'Field managers "test.alpha" and "test.beta" change .data.text of ConfigMap "default/a" back and forth. Let only one of them set it.';

Deno.test("two controllers that fight over a child are slowed, and reported with the field and both field managers", async (t) => {
  const [alpha, beta] = [textController("of alpha"), textController("of beta")];
  await using cluster = await memoryCluster({ parts: { alpha: alpha.part, beta: beta.part } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1m");

  await t.step("the number of reconciles and of writes is bounded", async () => {
    // After the burst there are ten reconciles in the first second. Then each delay is a tenth of
    // the time since the start, which makes about 41 in a minute.
    for (const { runs } of [alpha, beta]) assert(runs.length > BURST && runs.length < 110, `${runs.length} reconciles`);
    assert(writes(cluster).length < 220, `${writes(cluster).length} writes`);
    const before = writes(cluster).length;
    await cluster.advance("10m");
    // The two controllers write in turn. After five minutes, each writes once in 30 s.
    assert(writes(cluster).length - before < 80, `${writes(cluster).length - before} writes in ten minutes`);
  });

  await t.step("the log has a line for each controller", () => {
    const lines = cluster.logged.filter(({ message }) => message === "Hot loop detected");
    const named = lines.map(({ level, fields }) => {
      const { controller, namespace, name, writtenKind, writtenObject, field, manager, otherManager } = fields;
      return [level, controller, namespace, name, writtenKind, writtenObject, field, manager, otherManager].join(" ");
    });
    assert.deepEqual(named.sort(), [
      "warn alpha default a ConfigMap default/a .data.text test.alpha test.beta",
      "warn beta default a ConfigMap default/a .data.text test.beta test.alpha",
    ]);
  });

  await t.step("the object has one Event per controller", async () => {
    const events = (await cluster.list(Event)).map(({ type, reason, note, regarding, series }) =>
      [type, reason, regarding?.name, note?.includes(".data.text of ConfigMap"), series?.count ?? 1].join(" ")
    );
    assert.deepEqual(events, ["Warning HotLoop a true 1", "Warning HotLoop a true 1"]);
  });

  await t.step("the condition has the field and both field managers, and is written once", async () => {
    const [ready, reconciling, ...others] = await conditions(cluster);
    assert.deepEqual([ready, others], ["Ready=True Reconciled: ", []]);
    assert.match(reconciling ?? "", /^Reconciling=True HotLoop: /);
    assert(reconciling?.includes(FIGHT_MESSAGE) || reconciling?.includes(withNamesSwapped(FIGHT_MESSAGE)), reconciling);
    const status = writes(cluster).filter((write) => write.endsWith("/status"));
    // Each controller may also write the condition Ready once.
    assert(status.length <= 3, `${status.length} writes`);
  });

  await t.step("the metric has the field and the managers as labels", async () => {
    const series = (await cluster.metrics()).split("\n").filter((line) => /^op_hot_loops.*} [1-9]/.test(line));
    assert.deepEqual(series, [
      'op_hot_loops{controller="alpha",kind="ConfigMap",field=".data.text",manager="test.alpha",other_manager="test.beta"} 1',
      'op_hot_loops{controller="beta",kind="ConfigMap",field=".data.text",manager="test.beta",other_manager="test.alpha"} 1',
    ]);
    assert.match(await cluster.metrics(), /op_delayed_reconciles_total{controller="alpha"} [1-9]/);
  });

  await t.step("a spec change ends the delay at once", async () => {
    const before = alpha.runs.length + beta.runs.length;
    await cluster.patch(Note, "a", { spec: { text: "peace" } });
    await cluster.advance("0s");
    assert(alpha.runs.length + beta.runs.length >= before + 2);
  });

  await t.step("the condition is removed when the loop ends, which is logged", async () => {
    await cluster.advance("3m");
    assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
    assert(cluster.logged.some(({ message }) => message === "Hot loop ended"));
    assert(!/^op_hot_loops.*} [1-9]/m.test(await cluster.metrics()));
    await cluster.settle();
  });
});

/**
 * Runs a reconciler that also acts as another client, for ten seconds.
 *
 * @returns The cluster, and the fields of the log line that reports the hot loop.
 */
async function fight(
  reconcile: (note: Note, context: NoteContext, cluster: MemoryCluster) => Promise<void>,
): Promise<{ readonly cluster: MemoryCluster; readonly report: Readonly<Record<string, unknown>> | undefined }> {
  await using cluster: MemoryCluster = await memoryCluster({
    parts: { notes: recording((note, context) => reconcile(note, context, cluster)).notes },
  });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("10s");
  return { cluster, report: cluster.logged.find(({ message }) => message === "Hot loop detected")?.fields };
}

Deno.test("a fight with another client is reported with that client's field manager", async () => {
  const { cluster, report } = await fight(async ({ metadata: { name } }, { apply }, cluster) => {
    await apply(ConfigMap, { metadata: { name }, data: { text: "ours", "other.key": "ours" } });
    const theirs = { data: { "other.key": "theirs" } };
    await cluster.client.patch(ConfigMap, name, theirs, { namespace: "default", manager: "kubectl-edit" });
  });
  assert.deepEqual([report?.field, report?.otherManager], ['.data["other.key"]', "kubectl-edit"]);
  // The cache does not store the other manager, so one list request finds it.
  const lists = cluster.sent({ kind: ConfigMap, verb: "list" }).filter(({ path }) => path.includes("metadata.name"));
  assert.equal(lists.length, 1);
});

Deno.test("a field that another client removes each time is reported with the field manager of its last change", async () => {
  const { report } = await fight(async ({ metadata: { name } }, { apply }, cluster) => {
    await apply(ConfigMap, { metadata: { name }, data: { text: "ours" } });
    const theirs = { data: { text: null }, metadata: { annotations: { cleaned: "yes" } } };
    await cluster.client.patch(ConfigMap, name, theirs, { namespace: "default", manager: "cleaner" });
  });
  assert.deepEqual([report?.field, report?.otherManager], [".data.text", "cleaner"]);
});

Deno.test("a child that another client deletes each time is reported without a field", async () => {
  const { report } = await fight(async ({ metadata: { name } }, { apply }, cluster) => {
    await apply(ConfigMap, { metadata: { name }, data: {} });
    await cluster.delete(ConfigMap, name);
  });
  assert.match(
    String(report?.cause),
    /Each reconcile of "test.notes" creates or deletes ConfigMap "default\/a"\./,
  );
});

Deno.test("settle rejects with the object, the field, both field managers and the trigger of the hot loop", async () => {
  const messages: string[] = [];
  let cluster: MemoryCluster | undefined;
  const unsettled = async (options: MemoryClusterOptions) => {
    await using current = cluster = await memoryCluster(options);
    await current.create(Note, "a", { spec: {} });
    messages.push(await current.settle().then(() => "settled", ({ message }: Error) => message));
  };
  await unsettled({ parts: { alpha: textController("of alpha").part, beta: textController("of beta").part } });
  await unsettled({ parts: { notes: recording(() => requeue("0s")).notes } });
  let count = 0;
  const { notes } = recording(async ({ metadata: { name } }, { status }) => {
    status({ runs: ++count });
    await cluster!.patch(Note, name, { metadata: { labels: { count: `${count}` } } });
  });
  await unsettled({ parts: { notes } });
  // Which of the two controllers waits at the timeout, and is named first, depends on the event
  // loop.
  const normalized = messages.map((message) =>
    message.startsWith('Cannot settle: controller "beta"') ? withNamesSwapped(message) : message
  );
  await assertGolden("hot_loops.txt", `${normalized.join("\n\n")}\n`);
});

/** Returns a message with the names of the two controllers swapped. */
function withNamesSwapped(message: string): string {
  return message.replaceAll(/alpha|beta/g, (name) => name === "alpha" ? "beta" : "alpha");
}

Deno.test("the report of a fight over a Secret contains none of its values", async () => {
  const setsPassword = (password: string) =>
    controller(Note, {
      owns: [Secret],
      async reconcile({ metadata: { name } }, { apply }) {
        await apply(Secret, { metadata: { name }, stringData: { password } });
      },
    });
  await using cluster = await memoryCluster({
    parts: { alpha: setsPassword("hunter2"), beta: setsPassword("swordfish") },
  });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("10s");
  const unsettled = await cluster.settle().catch(({ message }: Error) => message);
  const reports = JSON.stringify([
    unsettled,
    cluster.logged,
    await conditions(cluster),
    await cluster.list(Event),
    await cluster.metrics(),
  ]);
  assert(reports.includes(".data.password"));
  for (const secret of ["hunter2", "swordfish"]) {
    assert(!reports.includes(secret) && !reports.includes(btoa(secret)), secret);
  }
});

Deno.test('requeue("0s") is immediate for the burst, then slowed and reported', async () => {
  const times: number[] = [];
  let cluster: MemoryCluster | undefined;
  const { notes } = recording(() => {
    times.push(cluster!.clock.elapsed());
    return requeue("0s");
  });
  await using current = cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1m");
  assert.deepEqual(times.slice(0, BURST).filter((time) => time !== times[0]), []);
  assert(times.length < 110, `${times.length} reconciles`);
  assert.deepEqual(await conditions(cluster), [
    "Ready=True Reconciled: ",
    'Reconciling=True HotLoop: Controller "notes": Reconciled more than 50 times in a row; now delayed by up to 30s. ' +
    'The reconciler returned requeue("0s") each time. Return a longer delay, or undefined.',
  ]);
  await cluster.advance("10m");
  const delays = times.slice(-4).map((time, i, all) => i === 0 ? 30_000 : time - all[i - 1]!);
  assert.deepEqual(delays, [30_000, 30_000, 30_000, 30_000]);
  assert.equal(current.logged.filter(({ message }) => message === "Hot loop detected").length, 1);
});

Deno.test("controllers that trigger each other with new values are slowed to one reconcile a second", async () => {
  const { total, parts } = controllersTriggeringEachOther();
  await using cluster = await memoryCluster({ parts });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("1m");
  assert(total.reconciles < 320, `${total.reconciles} reconciles`);
  const before = total.reconciles;
  await cluster.advance("1m");
  assert(total.reconciles - before <= 122, `${total.reconciles - before} reconciles in a minute`);
  const [line] = cluster.logged.filter(({ message }) => message === "Hot loop detected");
  assert.match(String(line?.fields.trigger), /Note "default\/a" changed by controller "p[io]ng"/);
});

Deno.test("settle rejects when two controllers trigger each other, and names one of them", async () => {
  await using cluster = await memoryCluster({ parts: controllersTriggeringEachOther().parts, maxTurns: 200 });
  await cluster.create(Note, "a", { spec: {} });
  // Depending on the event loop, either settle times out first, or the limit for hot loops is
  // reached.
  await assert.rejects(cluster.settle(), /Cannot settle: .*\b(ping|pong)\b/);
});

for (const writer of ["the controller", "another client"] as const) {
  Deno.test(`an object whose spec ${writer} changes in each reconcile is slowed, although spec changes end delays`, async () => {
    let runs = 0;
    let cluster: MemoryCluster | undefined;
    const notes = controller(Note, {
      uses: [access(Note, "patch")],
      async reconcile({ metadata: { name } }, { patch }) {
        const changed = { spec: { text: `${++runs}` } };
        if (writer === "the controller") await patch(Note, name, changed);
        else await cluster!.patch(Note, name, changed);
      },
    });
    await using current = cluster = await memoryCluster({ parts: { notes } });
    await current.create(Note, "a", { spec: {} });
    await current.advance("1m");
    assert(runs < 250, `${runs} reconciles`);
  });
}

Deno.test("a client that removes the condition each time does not cause another loop", async () => {
  let removals = 0;
  let cluster: MemoryCluster | undefined;
  const { notes } = recording(async ({ metadata: { name }, spec, status }) => {
    if (status?.conditions?.some(({ type }) => type === "Reconciling")) {
      removals++;
      const conditions = status.conditions.filter(({ type }) => type !== "Reconciling");
      await cluster!.client.patch(Note, name, { status: { conditions } }, {
        namespace: "default",
        subresource: "status",
      });
    }
    return spec.text === "hot" ? requeue("0s") : undefined;
  });
  await using current = cluster = await memoryCluster({ parts: { notes } });
  await current.create(Note, "a", { spec: { text: "hot" } });
  await current.advance("1m");
  assert.equal(removals, 3);
});

Deno.test("an object that is created under the name of a delayed one is not delayed", async () => {
  const { notes, reconciles } = recording(({ spec }) => spec.text === "hot" ? requeue("0s") : undefined);
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: { text: "hot" } });
  await cluster.advance("10m");
  await cluster.delete(Note, "a");
  await cluster.create(Note, "a", { spec: { text: "cold" } });
  await cluster.advance("0s");
  assert.equal(reconciles.at(-1), "a cold: changed");
  assert.deepEqual(await conditions(cluster), ["Ready=True Reconciled: "]);
  await cluster.advance("2m");
  assert.equal(reconciles.filter((line) => line.startsWith("a cold")).length, 1);
});

Deno.test("deleting the object ends the delay at once", async () => {
  const cleaned: number[] = [];
  let cluster: MemoryCluster | undefined;
  const { notes } = recording(() => requeue("0s"), { cleanup: () => void cleaned.push(cluster!.clock.elapsed()) });
  await using current = cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "a", { spec: {} });
  await cluster.advance("10m");
  await cluster.delete(Note, "a");
  const deletedAt = current.clock.elapsed();
  await cluster.advance("0s");
  assert.deepEqual(cleaned, [deletedAt]);
});

const NOT_SLOWED: readonly {
  readonly name: string;
  readonly reconcile: Parameters<typeof recording>[0];
  readonly change?: (cluster: MemoryCluster) => Promise<void>;
  /** Minimum number of reconciles. */
  readonly runs: number;
}[] = [
  { name: 'a poll with requeue("1s")', reconcile: () => requeue("1s"), runs: 600 },
  {
    name: "a poll that writes each time",
    reconcile: (() => {
      let runs = 0;
      return (_note, { status }) => {
        status({ runs: ++runs });
        return requeue("1s");
      };
    })(),
    runs: 600,
  },
  {
    name: "retries after errors",
    reconcile: () => {
      throw new TemporaryError("not yet");
    },
    runs: 15,
  },
  {
    name: "retries with a fixed delay",
    reconcile: () => {
      throw new TemporaryError("not yet", { retry: "1s" });
    },
    runs: 600,
  },
  {
    name: "a state machine of 40 steps",
    reconcile: ({ status: before }, { status }) => {
      const runs = (before?.runs ?? 0) + 1;
      status({ runs });
      return runs < 40 ? requeue("0s") : undefined;
    },
    runs: 40,
  },
  {
    name: "a burst of 20 spec changes",
    reconcile: ({ spec }, { status }) => status({ text: spec.text }),
    change: async (cluster) => {
      for (let i = 0; i < 20; i++) {
        await cluster.patch(Note, "a", { spec: { text: `${i}` } });
        await cluster.advance("50ms");
      }
    },
    runs: 21,
  },
  {
    name: "a burst of 20 label changes",
    reconcile: (_note, { status, reason }) => status({ text: `${reason} ${crypto.randomUUID()}` }),
    change: async (cluster) => {
      for (let i = 0; i < 20; i++) {
        await cluster.patch(Note, "a", { metadata: { labels: { i: `${i}` } } });
        await cluster.advance("50ms");
      }
    },
    runs: 21,
  },
  {
    name: "200 changes that need no write",
    reconcile: () => {},
    change: async (cluster) => {
      for (let i = 0; i < 200; i++) {
        await cluster.patch(Note, "a", { metadata: { labels: { i: `${i}` } } });
        await cluster.advance("0s");
      }
    },
    runs: 201,
  },
];

for (const { name, reconcile, change, runs: expected } of NOT_SLOWED) {
  Deno.test(`${name} is not delayed or reported`, async () => {
    const { notes, reconciles } = recording(reconcile);
    await using cluster = await memoryCluster({ parts: { notes } });
    await cluster.create(Note, "a", { spec: {} });
    await cluster.advance("0s");
    if (change) await change(cluster);
    else await cluster.advance("10m");
    assert(reconciles.length >= expected, `${reconciles.length} reconciles`);
    assert.match(await cluster.metrics(), /op_delayed_reconciles_total{controller="notes"} 0/);
    assert(!cluster.logged.some(({ message }) => message === "Hot loop detected"));
  });
}

Deno.test("1,000 objects with a child each are not delayed next to one in a hot loop", async () => {
  const { notes } = recording(async ({ metadata: { name }, spec }, { apply, status }) => {
    await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } });
    status({ text: spec.text });
    return name === "hot" ? requeue("0s") : undefined;
  });
  await using cluster = await memoryCluster({ parts: { notes } });
  await cluster.create(Note, "hot", { spec: {} });
  const names = Array.from({ length: 1000 }, (_, i) => `n-${i}`);
  for (const name of names) await cluster.create(Note, name, { spec: {} });
  await cluster.advance("0s");
  const ready = (await cluster.list(Note)).filter(({ status }) => status?.text === "hello");
  assert.equal(ready.length, 1001);
  const loops = cluster.logged.filter(({ message }) => message === "Hot loop detected");
  assert.deepEqual(loops.map(({ fields }) => fields.name), ["hot"]);
});
