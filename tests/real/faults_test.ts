/**
 * Faults of a real API server and of the network lose no change. Counts are small by default;
 * OP_TEST_FAULTS=full runs the full test.
 */
import assert from "node:assert/strict";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { operator } from "../../mod.ts";
import { ClusterRole, ClusterRoleBinding, ConfigMap, CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";
import { inPod, madeOf, startBothWays, USERS } from "./_two_transports.ts";
import { compactEtcd } from "./_etcd.ts";
import { faultyProxy } from "./_faulty_proxy.ts";
import { install } from "../fixtures/install.ts";
import { refusals } from "./_rejecting_webhook.ts";
import { podConnection } from "../fixtures/connections.ts";
import { eventually } from "../eventually.ts";
import { stormOf429 } from "./_too_many_requests.ts";

const IN_DEFAULT = { namespace: "default" };
const NAMES = Array.from({ length: 20 }, (_, i) => `n${i}`);
/** A note that is deleted on the way. */
const GONE = "n2";
/** What the operators write. */
const WRITTEN = ["configmaps", "notes", "notes/status"];
const LANES = 5;
const IS_FULL = Deno.env.get("OP_TEST_FAULTS") === "full";
const [RESTARTS, CHANGES, ROUNDS, STORM] = IS_FULL ? [10, 2000, 20, 30_000] : [3, 300, 3, 2000];

Deno.test("no change is lost by faults of a real API server and of the network, in a pod and with a kubeconfig", async (t) => {
  await using cluster = await realCluster({ apiserverArgs: ["--shutdown-watch-termination-grace-period=1s"] });
  using proxy = faultyProxy(cluster.port);
  const client = adminClient(cluster);
  await install(client, inPod);
  await using maps = await watched(client, ConfigMap);
  await using operators = await startBothWays(cluster, client, proxy.port);
  const { runs } = operators;

  const made = (name: string): (string | undefined)[] =>
    madeOf(name).map((made) => (maps.store.get(`default/${made}`) as ConfigMap | undefined)?.data?.text);
  const text = (name: string): string | undefined => {
    const [first, ...others] = made(name);
    return others.every((other) => other === first) ? first : undefined;
  };
  const write = async (name: string, text: string): Promise<void> => {
    // The server may be down, so a request without a response is sent again.
    const note = { metadata: { name, ...IN_DEFAULT }, spec: { text } };
    await eventually(() => client.apply(Note, note, { manager: "test" }));
  };
  /** Resolves when the children are as desired and the statuses report it. */
  const done = async (wanted: ReadonlyMap<string, string>): Promise<void> => {
    await maps.until(() => [...wanted].every(([name, each]) => text(name) === each));
    await eventually(async () => {
      for (const { metadata: { name, generation }, status } of await client.list(Note, IN_DEFAULT)) {
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        assert.deepEqual([ready?.status, ready?.observedGeneration], ["True", generation], name);
      }
    });
  };
  /** Updates all notes, and waits until they are reconciled. */
  const change = async (to: string): Promise<void> => {
    const wanted = new Map(NAMES.map((name) => [name, to]));
    for (const name of NAMES) await write(name, to);
    await done(wanted);
  };
  await change("0");

  // The kernel alone would give up on such a connection only after about 15 minutes, longer than
  // the timeout of `until`.
  await t.step("a connection that silently stops delivering data is detected and replaced", async () => {
    proxy.freeze();
    await write("n0", "frozen");
    await maps.until(() => text("n0") === "frozen");
  });

  await t.step("a response is lost with its connection after the write", async () => {
    const before = await operators.answers("<error>");
    for (let round = 1; round <= ROUNDS; round++) {
      proxy.loseAnswers();
      await write("n0", `lost ${round}`);
      await maps.until(() => text("n0") === `lost ${round}`);
    }
    await eventually(async () => {
      const after = await operators.answers("<error>");
      assert(
        after.every((count, i) => count > before[i]!),
        `${proxy.lost} connections lost an answer: ${before} ${after}`,
      );
    });
  });

  await t.step("409 on every third write", async () => {
    let count = 0;
    const before = await operators.answers("409");
    await using _refusals = await refusals(client, USERS, WRITTEN, () => ++count % 3 === 0 ? 409 : undefined);
    // The server learns of a new webhook through a watch.
    await eventually(async () => {
      await write("n0", `asked ${count}`);
      assert(count > 0);
    });
    await change("refused");
    // The rejections are counted over both operators together, so each one's share is random.
    await eventually(async () => {
      const refused = (await operators.answers("409")).map((after, i) => after - before[i]!);
      assert(refused.every((one) => one > 0 && one < 20 * NAMES.length), `${refused} answers of 409`);
      assert(refused.reduce((sum, one) => sum + one) >= NAMES.length / 4, `${refused} answers of 409`);
    });
  });

  await t.step("during a storm of 429 responses each request waits for its Retry-After", async () => {
    const before = await operators.answers("429");
    const began = systemClock.elapsed();
    const refused = async () => (await operators.answers("429")).map((count, i) => count - before[i]!);
    /** Resolves when each operator has been rejected a number of times more. */
    const refusedMore = async (count: number): Promise<void> => {
      const earlier = await refused();
      await eventually(async () => {
        const now = await refused();
        assert(now.every((each, i) => each >= earlier[i]! + count), `${earlier} then ${now} answers of 429`);
      });
    };
    const wanted = new Map(NAMES.map((name) => [name, "stormy"]));
    {
      await using _storm = await stormOf429(client, cluster, USERS);
      for (const name of NAMES) await write(name, "stormy");
      await refusedMore(3);
      await sleep(systemClock, STORM / 2);
      // Now their watches must be reopened as well.
      proxy.cut();
      proxy.mend();
      await refusedMore(3);
      await sleep(systemClock, STORM / 2);
      assert(!NAMES.flatMap(made).includes("stormy"), "nothing gets through");
    }
    await done(wanted);
    const seconds = (systemClock.elapsed() - began) / 1000;
    for (const count of await refused()) {
      // Three watches, and later ten reconciles, each at most once a second.
      assert(count < 13 * (seconds + 1), `${count} answers of 429 in ${seconds} s`);
    }
  });

  await t.step("a watch that breaks while etcd is compacted lists again, and misses no change", async () => {
    proxy.cut();
    await write("n1", "behind its back");
    await client.delete(Note, GONE, IN_DEFAULT);
    await compactEtcd(cluster);
    await cluster.restartApiserver({ signal: "SIGKILL" });
    await write("n3", "after it");
    await compactEtcd(cluster);
    for (const each of Object.values(runs)) each.length = 0;
    proxy.mend();
    await maps.until(() => text("n1") === "behind its back" && text("n3") === "after it");
    // An interrupted reconcile is retried, and the other operator's children of a note trigger this
    // one.
    const changed = runs.pod.filter((run) => !/: (retried|owned changed)$/.test(run));
    assert.deepEqual(changed.sort(), ["n1 behind its back: changed", "n3 after it: changed"]);
  });

  await t.step(
    `killing and restarting the server ${RESTARTS} times under ${CHANGES} changes loses none of them`,
    async () => {
      const names = NAMES.filter((name) => name !== GONE);
      const wanted = new Map<string, string>();
      let isOver = false;
      const restarting = (async () => {
        for (let i = 0; i < RESTARTS; i++) await cluster.restartApiserver({ signal: "SIGKILL" });
        isOver = true;
      })();
      let count = 0;
      const lanes = Array.from({ length: LANES }, async (_, lane) => {
        const own = names.filter((_, i) => i % LANES === lane);
        for (let i = lane; i < CHANGES || !isOver; i += LANES) {
          const name = own[count % own.length]!;
          await write(name, `change ${i}`);
          wanted.set(name, `change ${i}`);
          count++;
        }
      });
      await Promise.all([restarting, ...lanes]);
      assert(count >= CHANGES, `${count} changes`);
      await done(wanted);
    },
  );

  await t.step(
    "a deleted definition is waited for until it is created again, and its objects are reconciled",
    async () => {
      const forget = async (): Promise<void> => {
        for (const name of NAMES.flatMap(madeOf)) {
          await client.delete(ConfigMap, name, IN_DEFAULT).catch((error) => assert.equal(error.status, 404));
        }
      };
      await forget();
      await client.delete(CustomResourceDefinition, Note.crd!.metadata.name);
      await eventually(async () => await assert.rejects(client.list(Note, IN_DEFAULT), { status: 404 }));
      await install(client, inPod);
      await forget();
      await write("n0", "again");
      await maps.until(() => text("n0") === "again");
    },
  );
});

Deno.test("an operator whose permission is revoked on a real API server waits, reports it, and resumes when it is granted again", async () => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  const { notes } = recording(applyText);
  const op = operator({ name: "faults", parts: { notes }, health: false });
  await install(client, op);
  await using maps = await watched(client, ConfigMap);
  const { rbac } = op.manifests({ namespace: "default" });
  const rules = rbac.flatMap((manifest) => "rules" in manifest ? manifest.rules as { verbs: string[] }[] : []);
  const role = (verbs: (verb: string) => boolean) =>
    client.apply(ClusterRole, {
      metadata: { name: "op" },
      rules: rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter(verbs) })).filter(({ verbs }) =>
        verbs.length > 0
      ),
    }, { manager: "test", force: true });
  await role(() => true);
  await client.create(ClusterRoleBinding, {
    metadata: { name: "op" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "op" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "limited" }],
  });
  const { token } = await cluster.user("limited");
  const connection = await podConnection({ ...cluster, token });
  using _connection = { [Symbol.dispose]: () => connection.close() };
  await using running = startOperator(op, { connection });
  const told = (name: string): string | undefined => running.readiness().find((line) => line.name === name)?.message;
  const create = (name: string) => client.create(Note, { metadata: { name }, spec: { text: name } }, IN_DEFAULT);
  await create("before");
  await maps.until((all) => all.some(({ metadata }) => metadata.name === "before"));

  await role((verb) => verb !== "patch");
  await eventually(async () => {
    await client.delete(Note, "probe", IN_DEFAULT).catch(() => undefined);
    await create("probe").catch(() => undefined);
    assert.match(told("controller notes") ?? "", /^waits for the RBAC permission to patch/);
  });
  await create("during");
  const held = (await client.list(Note)).length;
  await eventually(async () =>
    assert.match(await running.metrics.text(), new RegExp(`^op_cache_objects\\{[^}]*kind="Note".*\\} ${held}$`, "m"))
  );
  assert.equal(maps.values().some(({ metadata }) => metadata.name === "during"), false);

  await role(() => true);
  await maps.until((all) => all.some(({ metadata }) => metadata.name === "during"));
  await eventually(() => assert.equal(told("controller notes"), "running"));
});
