/**
 * The design's guarantees about watches, reconciles and writes, on a real API server. tests/runtime
 * checks the same on the in-process one.
 */
import assert from "node:assert/strict";
import { controller, type Infer, type Operator, operator, PermanentError, watch } from "@op/sdk";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { ClusterRole, ConfigMap, Event, Secret } from "../../src/kinds/mod.ts";
import type { Client } from "../../src/kube/client.ts";
import { startOperator } from "../../src/operator/running.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, type Watched, watched } from "../fixtures/watched.ts";
import { applyText, Note, ownedBy, recording } from "../fixtures/notes.ts";
import { acceleratedClock } from "../fixtures/accelerated_clock.ts";
import { install } from "../fixtures/install.ts";
import { kubeconfigConnection, podConnection } from "../fixtures/connections.ts";
import { eventually } from "../eventually.ts";
import { StreamProxy } from "./_proxies.ts";

const IN_DEFAULT = { namespace: "default" };
/** With OP_TEST_FAULTS=full, a stream stalls after its second bookmark, in real time. */
const IS_FULL = Deno.env.get("OP_TEST_FAULTS") === "full";
const TWO_BOOKMARKS = 185_000;

/** The longest allowed name, since derived names must fit as well. */
const LONG = { operator: `long-${"a".repeat(58)}`, part: "p".repeat(60) };

Deno.test("watches, reconciles and writes on a real API server", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  await install(client, operator({ name: "kinds", parts: { notes: recording().notes } }));
  await using notes = await watched(client, Note);
  const create = (name: string, note: Partial<Parameters<typeof client.create<typeof Note>>[1]> = {}) =>
    client.create(Note, { spec: {}, ...note, metadata: { ...note.metadata, name } }, IN_DEFAULT);

  await t.step(
    "with names of maximum length, the finalizer, field manager and Events are accepted, and cleanup completes",
    async () => {
      const cleaned: string[] = [];
      const { notes: part } = recording(async (note, context) => {
        context.events.normal("Seen", note.spec.text);
        await applyText(note, context);
      }, { cleanup: ({ metadata }) => void cleaned.push(metadata.name) });
      await using _ = run(cluster, operator({ name: LONG.operator, parts: { [LONG.part]: part }, health: false }));
      await using events = await watched(client, Event);
      await create("long");
      await notes.until((all) => ready(all, "long")?.status === "True");
      const [finalizer] = (await client.get(Note, "long", IN_DEFAULT)).metadata.finalizers ?? [];
      assert.match(finalizer ?? "", /^demo\.example\.com\/long-a+-[0-9a-f]{8}$/);
      assert.match(managers(await client.get(ConfigMap, "long", IN_DEFAULT))[0] ?? "", /^long-a+\.p+$/);
      await events.until((all) => all.some(({ regarding, reason }) => regarding?.name === "long" && reason === "Seen"));
      await client.delete(Note, "long", IN_DEFAULT);
      await notes.until((all) => ready(all, "long") === undefined);
      assert.deepEqual(cleaned, ["long"]);
    },
  );

  await t.step(
    "the finalizer of a controller that has no cleanup any more is removed, whether or not the object is being deleted",
    async () => {
      const finalizers = ["demo.example.com/test.notes"];
      await create("remains", { metadata: { finalizers } });
      await create("deleted", { metadata: { finalizers } });
      await client.delete(Note, "deleted", IN_DEFAULT);
      await using _ = run(cluster, operator({ name: "test", parts: { notes: recording().notes }, health: false }));
      await notes.until((all) =>
        all.every(({ metadata }) => metadata.name !== "deleted") && ready(all, "remains")?.status === "True"
      );
      await eventually(async () =>
        assert.equal((await client.get(Note, "remains", IN_DEFAULT)).metadata.finalizers, undefined)
      );
    },
  );

  await t.step(
    "the old and the new owner of a child are reconciled, regardless of the API version in the reference",
    async () => {
      const { notes: part, reconciles } = recording();
      await using _ = run(cluster, operator({ name: "test", parts: { notes: part }, health: false }));
      const [one, two] = [await create("one"), await create("two")];
      await eventually(() =>
        assert(["one", "two"].every((name) => reconciles.some((line) => line.startsWith(`${name} hello`))))
      );
      const older = { ...ownedBy(one), apiVersion: "demo.example.com/v0" };
      await client.create(ConfigMap, { metadata: { name: "transferred", ownerReferences: [older] } }, IN_DEFAULT);
      await eventually(() => assert(reconciles.includes("one hello: owned changed"), reconciles.join()));
      reconciles.length = 0;
      await client.patch(ConfigMap, "transferred", { metadata: { ownerReferences: [ownedBy(two)] } }, IN_DEFAULT);
      // Objects of earlier steps are found at start, at an unpredictable time.
      const ofBoth = () => reconciles.filter((line) => /^(one|two) /.test(line)).sort();
      await eventually(() => assert.deepEqual(ofBoth(), ["one hello: owned changed", "two hello: owned changed"]));
    },
  );

  await t.step(
    "pruning keeps another controller's children, and writes of one controller trigger the other one's watches",
    async () => {
      const reconciles: string[] = [];
      const isOurs = (name: string): boolean => name.startsWith("trigger-");
      const pruning = controller(Note, {
        owns: [ConfigMap],
        prune: true,
        watches: [watch(Note, { predicate: ({ metadata }) => isOurs(metadata.name) })],
        async reconcile({ metadata: { name }, spec: { text } }, { applyAll, status }) {
          await applyAll([[ConfigMap, {
            metadata: { name: `${name}-${text}`, labels: { reader: "trigger-reader" } },
          }]]);
          status({ text });
        },
      });
      const copying = controller(Note, {
        owns: [ConfigMap],
        watches: [
          watch(Note, {
            predicate: ({ metadata }) => isOurs(metadata.name),
            map: ({ metadata }) => metadata.name === "trigger-a" ? "trigger-reader" : undefined,
          }),
        ],
        async reconcile({ metadata: { name }, spec: { text } }, { apply, reason, status }) {
          reconciles.push(`${name}: ${reason}`);
          await apply(ConfigMap, { metadata: { name: `${name}-copy` } });
          status({ runs: text.length });
        },
      });
      await using _ = run(cluster, operator({ name: "test", parts: { pruning, copying }, health: false }));
      for (const name of ["trigger-a", "trigger-reader"]) await create(name, { spec: { text: "one" } });
      await using maps = await watched(client, ConfigMap);
      const childrenOfA = (all: readonly Infer<typeof ConfigMap>[]) =>
        all.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("trigger-a")).sort().join();
      await maps.until((all) => childrenOfA(all) === "trigger-a-copy,trigger-a-one");
      await notes.until((all) => ready(all, "trigger-reader")?.status === "True");
      reconciles.length = 0;
      await client.patch(Note, "trigger-a", { spec: { text: "three" } }, IN_DEFAULT);
      await maps.until((all) => childrenOfA(all) === "trigger-a-copy,trigger-a-three");
      await eventually(() => assert(reconciles.includes("trigger-reader: watched changed"), reconciles.join()));
      // A write of one controller to objects of earlier steps triggers the other, as their owner,
      // at an unpredictable time.
      const byWatch = reconciles.filter((line) => line.endsWith(": watched changed"));
      assert.deepEqual(
        byWatch.filter((run) => !run.startsWith("trigger-")),
        [],
        "the watch triggered objects that its predicate rejects",
      );
    },
  );

  await t.step(
    "with select and metadataOnly, only metadata is sent and cached, and only selected fields trigger reconciles",
    async () => {
      const seen: (Infer<typeof Secret> | undefined)[] = [];
      const part = controller(Note, {
        watches: [watch(Secret, {
          metadataOnly: true,
          labelSelector: "use=yes",
          select: ({ metadata }) => metadata.labels?.color,
          map: ({ metadata }) => metadata.name,
        })],
        reconcile: async ({ metadata: { name } }, { get }) =>
          void (name === "meta" && seen.push(await get(Secret, name))),
      });
      await using running = run(cluster, operator({ name: "test", parts: { notes: part }, health: false }));
      await create("meta");
      await eventually(() => assert.deepEqual(seen, [undefined]));
      const labels = { use: "yes", color: "red" };
      await client.create(Secret, { metadata: { name: "meta", labels }, data: { key: "b25l" } }, IN_DEFAULT);
      await eventually(() => assert.equal(seen.length, 2));
      assert.deepEqual([seen[1]?.metadata.labels, seen[1]?.data, seen[1]?.kind], [labels, undefined, "Secret"]);
      await client.patch(Secret, "meta", { data: { key: "dHdv" } }, IN_DEFAULT);
      await client.patch(Secret, "meta", { metadata: { labels: { color: "blue" } } }, IN_DEFAULT);
      await eventually(() => assert.equal(seen.at(-1)?.metadata.labels?.color, "blue"));
      assert.equal(seen.length, 3, "a change of unselected fields triggered a reconcile");
      await client.patch(Secret, "meta", { metadata: { labels: { use: null } } }, IN_DEFAULT);
      await eventually(() => assert.deepEqual([seen.length, seen.at(-1)], [4, undefined]));
      assert(running.readiness().some(({ name }) => name === "watch Secret use=yes"));
    },
  );

  await t.step("Events fit the API's limits for any object name and text", async () => {
    const names = ["system:seen:", "plain.seen"];
    const roles = controller(ClusterRole, {
      reconcile({ metadata }, { events }) {
        if (names.includes(metadata.name)) {
          events.normal("é".repeat(100), "é".repeat(1000), { action: "é".repeat(100) });
        }
      },
    });
    await using _ = run(cluster, operator({ name: LONG.operator, parts: { [LONG.part]: roles }, health: false }));
    await using events = await watched(client, Event);
    for (const name of names) await client.create(ClusterRole, { metadata: { name }, rules: [] });
    const about = (all: Infer<typeof Event>[]) => all.filter(({ regarding }) => names.includes(regarding?.name ?? ""));
    await events.until((all) => about(all).length === 2);
    for (const { note = "", reason } of about(events.values())) {
      assert.equal(reason, "é".repeat(64));
      assert.match(note, /^é{510}…$/);
    }
  });

  await t.step("a reconcile reads its own writes, and they do not trigger another", async () => {
    const read: unknown[] = [];
    const { notes: part, reconciles } = recording(
      async ({ metadata: { name }, spec }, { create, apply, get, list }) => {
        if (name !== "reads" || read.length > 0) return;
        await create(ConfigMap, { metadata: { name }, data: { text: "created" } });
        read.push((await get(ConfigMap, name))?.data?.text);
        await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } });
        read.push((await list(ConfigMap)).find(({ metadata }) => metadata.name === name)?.data?.text);
      },
      { cleanup() {} },
    );
    await using _ = run(cluster, operator({ name: "test", parts: { notes: part }, health: false }));
    await create("reads");
    await notes.until((all) => ready(all, "reads")?.status === "True");
    assert.deepEqual(read, ["created", "hello"]);
    // Changes arrive in order, so once this one is reconciled, no earlier one is pending.
    await client.patch(Note, "reads", { spec: { text: "more" } }, IN_DEFAULT);
    await eventually(() => assert(reconciles.includes("reads more: changed"), reconciles.join()));
    // It depends on timing whether the object is listed at start or reported as new.
    const ofReads = reconciles.filter((one) => one.startsWith("reads")).map((one) => one.split(":")[0]);
    assert.deepEqual(ofReads, ["reads hello", "reads more"]);
  });

  await t.step(
    "two controllers of one kind that both report a PermanentError do not trigger each other forever",
    async () => {
      const reconciles: string[] = [];
      const hopeless = (part: string) =>
        controller(Note, {
          reconcile({ metadata: { name } }) {
            if (name !== "hopeless") return;
            reconciles.push(part);
            throw new PermanentError(`${part} cannot`);
          },
          cleanup() {},
        });
      const parts = { one: hopeless("one"), two: hopeless("two") };
      await using _ = run(cluster, operator({ name: "test", parts, health: false }));
      await create("hopeless");
      await notes.until((all) => ready(all, "hopeless")?.reason === "PermanentError");
      await untilProcessed(client, notes);
      const before = reconciles.length;
      assert(before <= 6, `${before} reconciles`);
      await client.delete(Note, "hopeless", IN_DEFAULT);
      await notes.until((all) => ready(all, "hopeless") === undefined);
      assert(reconciles.length <= before + 1, `${reconciles.length} reconciles`);
    },
  );

  await t.step("a reconcile fails if apply without force sets a field of another manager", async () => {
    const { notes: part } = recording(async ({ metadata: { name }, spec }, { apply }) => {
      if (name === "yields") {
        await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } }, { force: false });
      }
    });
    const metadata = { name: "yields", ...IN_DEFAULT };
    await client.apply(ConfigMap, { metadata, data: { text: "theirs" } }, { manager: "other" });
    await using _ = run(cluster, operator({ name: "test", parts: { notes: part }, health: false }));
    await create("yields");
    await notes.until((all) => ready(all, "yields")?.reason === "Conflict");
    assert.match(ready(notes.values(), "yields")!.message, /conflict with "other"/);
    assert.equal((await client.get(ConfigMap, "yields", IN_DEFAULT)).data?.text, "theirs");
  });

  await t.step(
    "a watch whose stream falls silent on an open connection is reopened, in a pod and with a kubeconfig",
    async () => {
      const reopensWatches = async (access: "pod" | "kubeconfig"): Promise<void> => {
        using proxy = await StreamProxy.open(cluster);
        const target = { url: proxy.url, caCert: proxy.caCert, token: cluster.admin.token };
        // The clock runs faster for the watches, but not for the connection, so that no ping checks
        // it.
        const { reset: _reset, ...connection } = access === "pod"
          ? await podConnection(target)
          : kubeconfigConnection(target);
        using _connection = { [Symbol.dispose]: () => connection.close() };
        const { notes: part, reconciles } = recording();
        const op = operator({ name: access, parts: { notes: part }, health: false });
        const clock = IS_FULL ? systemClock : acceleratedClock(systemClock, 8);
        await using _running = startOperator(op, { connection, clock, checkAccess: false });
        const name = `stalled-${access}`;
        await create(name);
        await eventually(() => assert(reconciles.some((one) => one.startsWith(`${name} hello`)), reconciles.join()));
        // In the server's own time: two bookmarks have arrived, and the third shows that the stream
        // still works.
        if (IS_FULL) await sleep(systemClock, TWO_BOOKMARKS);
        // A watch may be reopened at this moment. Then it is not affected, and the test tries
        // again.
        for (let attempt = 1;; attempt++) {
          await eventually(() => assert(proxy.silence() >= 2, "fewer than two watches are open"));
          const from = clock.elapsed();
          await client.patch(Note, name, { spec: { text: `silenced ${attempt}` } }, IN_DEFAULT);
          await eventually(() =>
            assert(reconciles.includes(`${name} silenced ${attempt}: changed`), reconciles.join())
          );
          const took = clock.elapsed() - from;
          if (IS_FULL) console.log(`${access}: reopened after ${Math.round(took / 1000)} s`);
          if (took > (IS_FULL ? 5000 : 20_000)) break;
          assert(
            attempt < 5,
            `the change was seen after ${took} ms of the operator's clock, so the stream was not silent`,
          );
        }
      };
      await Promise.all([reopensWatches("pod"), reopensWatches("kubeconfig")]);
    },
  );
});

Deno.test("an operator lists page by page on a real API server without streaming lists", async () => {
  await using cluster = await realCluster({ apiserverArgs: ["--feature-gates=WatchList=false"] });
  const client = adminClient(cluster);
  const { notes: part, reconciles } = recording(applyText);
  const op = operator({ name: "paged", parts: { notes: part }, health: false });
  await install(client, op);
  const create = (name: string) => client.create(Note, { metadata: { name }, spec: {} }, IN_DEFAULT);
  await create("before");
  const requests: string[] = [];
  const connection = {
    url: cluster.url,
    async fetch(request: Request) {
      const { pathname, searchParams } = new URL(request.url);
      const response = await cluster.fetch(request);
      const type = searchParams.has("sendInitialEvents") ? "stream" : searchParams.has("watch") ? "watch" : "page";
      if (request.method === "GET" && pathname.endsWith("/notes")) requests.push(`${type} ${response.status}`);
      return response;
    },
    close() {},
  };
  await using _ = startOperator(op, { connection, checkAccess: false });
  await eventually(() => assert.deepEqual(reconciles, ["before hello: found at start"]));
  await eventually(() => assert.deepEqual(requests.slice(0, 3), ["stream 422", "page 200", "watch 200"]));
  await create("after");
  await eventually(() => assert.deepEqual(reconciles.slice(1), ["after hello: changed"]));
});

/** Starts an operator in this process, as the administrator. */
function run(cluster: RealCluster, op: Operator) {
  const connection = { url: cluster.url, fetch: (request: Request) => cluster.fetch(request), close() {} };
  return startOperator(op, { connection, checkAccess: false });
}

/**
 * Returns the `Ready` condition of a note (`Unknown` if it has none), or `undefined` without the
 * note.
 */
function ready(all: readonly Note[], name: string) {
  const note = all.find(({ metadata }) => metadata.name === name);
  if (note === undefined) return undefined;
  return note.status?.conditions?.find(({ type }) => type === "Ready") ??
    { status: "Unknown", reason: "", message: "" };
}

function managers({ metadata }: Infer<typeof ConfigMap>): (string | undefined)[] {
  return metadata.managedFields?.map(({ manager }) => manager) ?? [];
}

/**
 * Creates a note, and resolves when the controllers have reconciled it. By then they have processed
 * all earlier changes too.
 */
async function untilProcessed(client: Client, notes: Watched<typeof Note>): Promise<void> {
  await client.create(Note, { metadata: { name: "marker" }, spec: {} }, IN_DEFAULT);
  await notes.until((all) => ready(all, "marker")?.status === "True");
}
