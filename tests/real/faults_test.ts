/**
 * An operator misses no change because of faults of a real API server or of the network. Counts are
 * small by default; OP_TEST_FAULTS=full runs the full test.
 */
import assert from "node:assert/strict";
import { sleep, systemClock } from "../../src/base/clock.ts";
import { operator } from "../../mod.ts";
import { ClusterRole, ClusterRoleBinding, ConfigMap, CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { startOperator } from "../../src/operator/running.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { applyText, Note, recording } from "../fixtures/notes.ts";
import { childrenOf, podOperator, startOperatorPair, USERS } from "./_operator_pair.ts";
import { ConnectionProxy } from "./_proxies.ts";
import { compactEtcd, rejectWrites, startStormOf429 } from "./_server_faults.ts";
import { install } from "../fixtures/install.ts";
import { podConnection } from "../fixtures/connections.ts";
import { eventually } from "../eventually.ts";

const IN_DEFAULT = { namespace: "default" };
const NAMES = Array.from({ length: 20 }, (_, i) => `n${i}`);
/** A note that one of the steps deletes. */
const DELETED = "n2";
/** The resources that the operators write. */
const WRITTEN = ["configmaps", "notes", "notes/status"];
const CONCURRENCY = 5;
const IS_FULL = Deno.env.get("OP_TEST_FAULTS") === "full";
const [RESTARTS, CHANGES, ROUNDS, STORM] = IS_FULL ? [10, 2000, 20, 30_000] : [3, 300, 3, 2000];

Deno.test("operators miss no change because of faults of a real API server or of the network, in a pod and with a kubeconfig", async (t) => {
  await using cluster = await realCluster({ apiserverArgs: ["--shutdown-watch-termination-grace-period=1s"] });
  using proxy = new ConnectionProxy(cluster.port);
  const client = adminClient(cluster);
  await install(client, podOperator);
  await using maps = await watched(client, ConfigMap);
  await using operators = await startOperatorPair(cluster, client, proxy.port);
  const { reconciles } = operators;

  const textsOf = (name: string): (string | undefined)[] =>
    childrenOf(name).map((child) => (maps.store.get(`default/${child}`) as ConfigMap | undefined)?.data?.text);
  /** Returns the text that both children of a note have, or `undefined` if they differ. */
  const textOf = (name: string): string | undefined => {
    const [first, ...others] = textsOf(name);
    return others.every((other) => other === first) ? first : undefined;
  };
  const write = async (name: string, text: string): Promise<void> => {
    // The server may be down, so a request without a response is sent again.
    const note = { metadata: { name, ...IN_DEFAULT }, spec: { text } };
    await eventually(() => client.apply(Note, note, { manager: "test" }));
  };
  /** Resolves when the children have the wanted texts and all notes are `Ready`. */
  const untilReconciled = async (wanted: ReadonlyMap<string, string>): Promise<void> => {
    await maps.until(() => [...wanted].every(([name, text]) => textOf(name) === text));
    await eventually(async () => {
      for (const { metadata: { name, generation }, status } of await client.list(Note, IN_DEFAULT)) {
        const ready = status?.conditions?.find(({ type }) => type === "Ready");
        assert.deepEqual([ready?.status, ready?.observedGeneration], ["True", generation], name);
      }
    });
  };
  /** Updates all notes, and waits until they are reconciled. */
  const writeAll = async (text: string): Promise<void> => {
    const wanted = new Map(NAMES.map((name) => [name, text]));
    for (const name of NAMES) await write(name, text);
    await untilReconciled(wanted);
  };
  await writeAll("0");

  // The kernel alone would give up on such a connection only after about 15 minutes, longer than
  // the timeout of `until`.
  await t.step("a connection that silently stops delivering data is detected and replaced", async () => {
    proxy.freeze();
    await write("n0", "frozen");
    await maps.until(() => textOf("n0") === "frozen");
  });

  await t.step(
    "a write whose response is lost with its connection is repeated, and counted as a failed request",
    async () => {
      const before = await operators.responses("<error>");
      for (let round = 1; round <= ROUNDS; round++) {
        proxy.loseResponses();
        await write("n0", `lost ${round}`);
        await maps.until(() => textOf("n0") === `lost ${round}`);
      }
      await eventually(async () => {
        const after = await operators.responses("<error>");
        assert(
          after.every((count, i) => count > before[i]!),
          `${proxy.lost} connections lost a response; requests without one: ${before}, then ${after}`,
        );
      });
    },
  );

  await t.step("writes are retried when the server rejects every third one with 409", async () => {
    let count = 0;
    const before = await operators.responses("409");
    await using _webhook = await rejectWrites(client, {
      users: USERS,
      resources: WRITTEN,
      status: () => ++count % 3 === 0 ? 409 : undefined,
    });
    // The server applies a new webhook configuration with a delay.
    await eventually(async () => {
      await write("n0", `reviewed ${count}`);
      assert(count > 0);
    });
    await writeAll("rejected");
    // The webhook counts the writes of both operators together, so the number of rejections per
    // operator is random.
    await eventually(async () => {
      const rejected = (await operators.responses("409")).map((after, i) => after - before[i]!);
      assert(rejected.every((count) => count > 0 && count < 20 * NAMES.length), `${rejected} responses of 409`);
      assert(rejected.reduce((sum, count) => sum + count) >= NAMES.length / 4, `${rejected} responses of 409`);
    });
  });

  await t.step("during a storm of 429 responses each request waits for its Retry-After", async () => {
    const before = await operators.responses("429");
    const startTime = systemClock.elapsed();
    const rejected = async () => (await operators.responses("429")).map((count, i) => count - before[i]!);
    /** Resolves when each operator has received a number of further 429 responses. */
    const untilRejectedAgain = async (count: number): Promise<void> => {
      const earlier = await rejected();
      await eventually(async () => {
        const now = await rejected();
        assert(now.every((each, i) => each >= earlier[i]! + count), `${earlier} then ${now} responses of 429`);
      });
    };
    const wanted = new Map(NAMES.map((name) => [name, "stormy"]));
    {
      await using _storm = await startStormOf429(client, cluster, USERS);
      for (const name of NAMES) await write(name, "stormy");
      await untilRejectedAgain(3);
      await sleep(systemClock, STORM / 2);
      // Now the operators must reopen their watches as well.
      proxy.cut();
      proxy.restore();
      await untilRejectedAgain(3);
      await sleep(systemClock, STORM / 2);
      assert(!NAMES.flatMap(textsOf).includes("stormy"), "a write was accepted during the storm");
    }
    await untilReconciled(wanted);
    const seconds = (systemClock.elapsed() - startTime) / 1000;
    for (const count of await rejected()) {
      // Three watches, and later ten reconciles, each at most once a second.
      assert(count < 13 * (seconds + 1), `${count} responses of 429 in ${seconds} s`);
    }
  });

  await t.step("a watch that is disconnected while etcd is compacted lists again, and misses no change", async () => {
    proxy.cut();
    await write("n1", "written while disconnected");
    await client.delete(Note, DELETED, IN_DEFAULT);
    await compactEtcd(cluster);
    await cluster.restartApiserver({ signal: "SIGKILL" });
    await write("n3", "written after the compaction");
    await compactEtcd(cluster);
    for (const list of Object.values(reconciles)) list.length = 0;
    proxy.restore();
    await maps.until(() =>
      textOf("n1") === "written while disconnected" && textOf("n3") === "written after the compaction"
    );
    // An interrupted reconcile is retried, and the other operator's children of a note trigger this
    // one.
    const changed = reconciles.pod.filter((reconcile) => !/: (retried|owned changed)$/.test(reconcile));
    assert.deepEqual(changed.sort(), [
      "n1 written while disconnected: changed",
      "n3 written after the compaction: changed",
    ]);
  });

  await t.step(
    `operators miss none of ${CHANGES} changes while the server is killed and restarted ${RESTARTS} times`,
    async () => {
      const names = NAMES.filter((name) => name !== DELETED);
      const wanted = new Map<string, string>();
      let hasRestarted = false;
      const restarting = (async () => {
        for (let i = 0; i < RESTARTS; i++) await cluster.restartApiserver({ signal: "SIGKILL" });
        hasRestarted = true;
      })();
      let count = 0;
      const writers = Array.from({ length: CONCURRENCY }, async (_, writer) => {
        const own = names.filter((_, i) => i % CONCURRENCY === writer);
        for (let i = writer; i < CHANGES || !hasRestarted; i += CONCURRENCY) {
          const name = own[count % own.length]!;
          await write(name, `change ${i}`);
          wanted.set(name, `change ${i}`);
          count++;
        }
      });
      await Promise.all([restarting, ...writers]);
      assert(count >= CHANGES, `${count} changes`);
      await untilReconciled(wanted);
    },
  );

  await t.step(
    "the operators wait while a definition is deleted, and reconcile its objects once it is created again",
    async () => {
      const deleteChildren = async (): Promise<void> => {
        for (const name of NAMES.flatMap(childrenOf)) {
          await client.delete(ConfigMap, name, IN_DEFAULT).catch((error) => assert.equal(error.status, 404));
        }
      };
      await deleteChildren();
      await client.delete(CustomResourceDefinition, Note.crd!.metadata.name);
      await eventually(async () => await assert.rejects(client.list(Note, IN_DEFAULT), { status: 404 }));
      await install(client, podOperator);
      await deleteChildren();
      await write("n0", "again");
      await maps.until(() => textOf("n0") === "again").catch((cause) => {
        throw new Error(
          `${
            textsOf("n0")
          } after reconciles of ${reconciles.pod} and of ${reconciles.kubeconfig}\n${operators.readiness()}`,
          {
            cause,
          },
        );
      });
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
  const grant = (isGranted: (verb: string) => boolean) =>
    client.apply(ClusterRole, {
      metadata: { name: "op" },
      rules: rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter(isGranted) })).filter(({ verbs }) =>
        verbs.length > 0
      ),
    }, { manager: "test", force: true });
  await grant(() => true);
  await client.create(ClusterRoleBinding, {
    metadata: { name: "op" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "op" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "limited" }],
  });
  const { token } = await cluster.user("limited");
  const connection = await podConnection({ ...cluster, token });
  using _connection = { [Symbol.dispose]: () => connection.close() };
  await using running = startOperator(op, { connection });
  const readiness = (name: string): string | undefined =>
    running.readiness().find((line) => line.name === name)?.message;
  const create = (name: string) => client.create(Note, { metadata: { name }, spec: { text: name } }, IN_DEFAULT);
  await create("before");
  await maps.until((all) => all.some(({ metadata }) => metadata.name === "before"));

  await grant((verb) => verb !== "patch");
  await eventually(async () => {
    await client.delete(Note, "probe", IN_DEFAULT).catch(() => undefined);
    await create("probe").catch(() => undefined);
    assert.match(readiness("controller notes") ?? "", /^waits for the RBAC permission to patch/);
  });
  await create("during");
  const cached = (await client.list(Note)).length;
  await eventually(async () =>
    assert.match(await running.metrics.text(), new RegExp(`^op_cache_objects\\{[^}]*kind="Note".*\\} ${cached}$`, "m"))
  );
  assert.equal(maps.values().some(({ metadata }) => metadata.name === "during"), false);

  await grant(() => true);
  await maps.until((all) => all.some(({ metadata }) => metadata.name === "during"));
  await eventually(() => assert.equal(readiness("controller notes"), "running"));
});
