/**
 * Hot loops on a real API server: two operators set the same field of a child to different values,
 * and a reconciler always requests another reconcile.
 */
import assert from "node:assert/strict";
import { controller, operator, requeue, resource, s } from "../../mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import { Event } from "../../src/kinds/events_v1.gen.ts";
import { ConfigMap } from "../../src/kinds/mod.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { BURST } from "../../src/queue/loop_limit.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { acceleratedClock } from "../fixtures/accelerated_clock.ts";
import { install } from "../fixtures/install.ts";

const Note = resource({
  group: "loops.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
  status: s.object({}),
});

/**
 * Creates an operator that applies a ConfigMap, or requests another reconcile, depending on the
 * note's text.
 */
const operatorThatSets = (name: string) => {
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile({ metadata, spec }, { apply }) {
      if (spec.text === "requeue") return name === "alpha" ? requeue("0s") : undefined;
      if (spec.text !== "fight") return undefined;
      await apply(ConfigMap, { metadata: { name: metadata.name }, data: { x: `of ${name}` } });
      return undefined;
    },
  });
  return operator({ name, parts: { notes }, health: false });
};

Deno.test("hot loops are slowed and reported on a real API server", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const operators = [operatorThatSets("alpha"), operatorThatSets("beta")];
  await install(client, operators[0]!);

  // The operators' clock runs ten times more slowly, so that a delay of 100 ms lasts a second, and
  // the rates also hold on a slow machine.
  const clock = acceleratedClock(systemClock, 0.1);
  const sent: string[] = [];
  const connection: Connection = {
    url: cluster.url,
    close() {},
    fetch: (request) => {
      if (request.method !== "GET") sent.push(`${request.method} ${new URL(request.url).pathname}`);
      return cluster.fetch(request);
    },
  };
  const stop = new AbortController();
  const running = operators.map((op) => op.run({ connection, clock, signal: stop.signal }));
  await using _stopped = {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
    },
  };
  await using notes = await watched(client, Note);
  await using events = await watched(client, Event);
  const reports = (name: string) =>
    events.values().filter(({ reason, regarding }) => reason === "HotLoop" && regarding?.name === name);

  await t.step("the rate at which two operators write one field is limited", async () => {
    const startTime = clock.elapsed();
    await client.create(Note, { metadata: { name: "fight" }, spec: { text: "fight" } }, { namespace: "default" });
    await notes.until((all) =>
      all.some(({ status }) => status?.conditions?.some(({ reason }) => reason === "HotLoop"))
    );
    const writes = sent.filter((write) => write.endsWith("/configmaps/fight")).length;
    const seconds = (clock.elapsed() - startTime) / 1000;
    assert(writes > BURST, `${writes} writes`);
    // Each operator may write its burst, and after that at most ten times a second.
    assert(writes <= 2 * (BURST + 2 + 11 * seconds), `${writes} writes in ${seconds} s`);
  });

  await t.step("an Event about a hot loop names the field and both field managers", async () => {
    await events.until(() => reports("fight").length > 0);
    const [event] = reports("fight");
    assert.equal(event?.type, "Warning");
    assert.match(
      event.note ?? "",
      /Field managers "(alpha|beta)\.notes" and "(alpha|beta)\.notes" change \.data\.x of ConfigMap "default\/fight"/,
    );
    assert(event.note?.includes("alpha.notes") && event.note.includes("beta.notes"));
  });

  await t.step("kubectl events shows the Event about a hot loop", async () => {
    const { kubectl } = cluster.programs;
    assert(kubectl, "kubectl is built with the control plane");
    const folder = await Deno.makeTempDir({ prefix: "hot-loop-" });
    try {
      await Deno.writeTextFile(`${folder}/kubeconfig`, cluster.admin.kubeconfig);
      const { stdout } = await new Deno.Command(kubectl, {
        args: ["events", "--for", "note.loops.example.com/fight", "--kubeconfig", `${folder}/kubeconfig`],
        env: { HOME: folder },
      }).output();
      assert.match(new TextDecoder().decode(stdout), /Warning +HotLoop +Note\/fight +.*\.data\.x of ConfigMap/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });

  await t.step('an Event reports a reconciler that always returns requeue("0s")', async () => {
    await client.create(Note, { metadata: { name: "again" }, spec: { text: "requeue" } }, { namespace: "default" });
    await events.until(() => reports("again").length > 0);
    assert.match(reports("again")[0]?.note ?? "", /The reconciler returned requeue\("0s"\) each time/);
  });

  await t.step("an object without a hot loop is reconciled at once", async () => {
    await client.create(Note, { metadata: { name: "quiet" }, spec: { text: "quiet" } }, { namespace: "default" });
    await notes.until((all) => all.some(({ metadata, status }) => metadata.name === "quiet" && status?.conditions));
    assert(sent.filter((write) => write.endsWith("/notes/quiet/status")).length <= 2);
    assert.equal(reports("quiet").length, 0);
  });

  await t.step("a spec change that resolves the conflict ends the hot loop", async () => {
    await client.patch(Note, "fight", { spec: { text: "peace" } }, { namespace: "default" });
    await notes.until((all) =>
      all.some(({ metadata, status }) => metadata.name === "fight" && status?.observedGeneration === 2)
    );
  });
});
