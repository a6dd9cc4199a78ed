/**
 * Two operators in one cluster, installed by their manifests: neither affects the other, and
 * metrics require authorization.
 */
import assert from "node:assert/strict";
import { controller, type Infer, type Operator, operator, resource, s } from "../../mod.ts";
import { systemClock } from "../../src/base/clock.ts";
import { ClusterRoleBinding, ConfigMap, Namespace, ServiceAccount } from "../../src/kinds/mod.ts";
import { Client } from "../../src/kube/client.ts";
import { findKind } from "../../src/kube/discovery.ts";
import type { Manifest } from "../../src/manifests/manifest.ts";
import { metricsGuard } from "../../src/operator/metrics_guard.ts";
import { operatorLog } from "../../src/operator/log.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { untilServed } from "../fixtures/install.ts";
import { connectAs, isGranted, tokenOf } from "../fixtures/service_account.ts";
import { eventually } from "../eventually.ts";

/**
 * Creates an operator with a kind Note in a group of its own. Its plural is the same in each group.
 */
function notesOf(name: string) {
  const Note = resource({
    group: `${name}.example.com`,
    version: "v1",
    kind: "Note",
    spec: s.object({ text: s.string() }),
    status: s.object({}),
  });
  const notes = controller(Note, {
    owns: [ConfigMap],
    async reconcile(note: Infer<typeof Note>, { apply }) {
      await apply(ConfigMap, { metadata: { name: `${name}-${note.metadata.name}` }, data: { text: note.spec.text } });
    },
    async cleanup() {},
  });
  return {
    Note,
    op: operator({ name, version: "1.0.0", parts: { notes }, metrics: { authorization: true }, leaderElection: true }),
  };
}

const ALPHA = notesOf("alpha");
const BETA = notesOf("beta");

/** Returns all manifests of an operator except those for Prometheus. */
function manifestsOf(op: Operator, namespace?: string): readonly Manifest[] {
  const { prometheus: _, crd, ...groups } = op.manifests(namespace === undefined ? {} : { namespace });
  return [...crd as unknown as readonly Manifest[], ...Object.values(groups).flat() as readonly Manifest[]];
}

const identity = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

Deno.test("the manifests of two operators share no object but their namespace", () => {
  for (const namespace of [undefined, "shared"]) {
    const alphas = manifestsOf(ALPHA.op, namespace).map(identity);
    const shared = manifestsOf(BETA.op, namespace).map(identity).filter((object) => alphas.includes(object));
    assert.deepEqual(shared, namespace === undefined ? [] : ["Namespace /shared"]);
  }
});

Deno.test("two operators in one cluster reconcile only their own objects, and protect their metrics", async (t) => {
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  for (const { op } of [ALPHA, BETA]) {
    for (const manifest of manifestsOf(op)) {
      // Without force, so that no field of another manager is overwritten.
      const [version = "", group = ""] = manifest.apiVersion.split("/").reverse();
      const kind = await findKind(client, `${manifest.kind.toLowerCase()}.${version}.${group}`);
      await client.apply(kind, manifest as never, {
        manager: `install-${op.name}`,
        fieldValidation: "Strict",
        force: false,
      });
    }
  }
  await untilServed(client);
  const connections = await Promise.all([ALPHA, BETA].map(async ({ op: { name } }) => {
    const token = await tokenOf(cluster, `${name}-system`, name);
    return Object.assign(connectAs(cluster, token), { namespace: `${name}-system` });
  }));
  for (const { op } of [ALPHA, BETA]) {
    await eventually(async () => {
      for (const rule of op.rbac()) {
        const user = `system:serviceaccount:${op.name}-system:${op.name}`;
        const granted = await isGranted(cluster, user, rule, `${op.name}-system`);
        assert(granted, `${op.name}: ${rule.verb} ${rule.resource}`);
      }
    });
  }
  const forbidden: string[] = [];
  for (const connection of connections) connection.onForbidden = (message) => void forbidden.push(message);
  const [alpha] = connections;
  assert(alpha);

  await t.step("each operator reconciles its own objects, and no request is forbidden", async () => {
    const stop = new AbortController();
    const running = [ALPHA, BETA].map(({ op }, i) => op.run({ connection: connections[i]!, signal: stop.signal }));
    for (const { Note } of [ALPHA, BETA]) {
      await client.create(Note, { metadata: { name: "a" }, spec: { text: Note.group } }, { namespace: "default" });
    }
    await using maps = await watched(client, ConfigMap);
    await maps.until((all) =>
      ["alpha-a", "beta-a"].every((name) => all.some(({ metadata }) => metadata.name === name))
    );
    stop.abort();
    await Promise.all(running);
    assert.deepEqual(forbidden, []);
  });

  await t.step("an operator may not read the objects of the other", async () => {
    const asAlpha = new Client(alpha, { clock: systemClock });
    await assert.rejects(asAlpha.list(BETA.Note), /403 Forbidden/);
    await asAlpha.list(ALPHA.Note);
  });

  await t.step("only subjects bound to the generated role may read metrics", async () => {
    await client.create(Namespace, { metadata: { name: "monitoring" } });
    for (const name of ["prometheus", "unbound"]) {
      await client.create(ServiceAccount, { metadata: { name } }, { namespace: "monitoring" });
    }
    await client.create(ClusterRoleBinding, {
      metadata: { name: "prometheus-reads-alpha" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "alpha-metrics-reader" },
      subjects: [{ kind: "ServiceAccount", name: "prometheus", namespace: "monitoring" }],
    });
    const [prometheus, unbound] = await Promise.all(
      ["prometheus", "unbound"].map((name) => tokenOf(cluster, "monitoring", name)),
    );
    const statusFor = async (token: string) => {
      // A new guard has no cached decision from before the server applied the binding.
      const guard = metricsGuard({ client: new Client(alpha), clock: systemClock, log: operatorLog("alpha") });
      const headers = { authorization: `Bearer ${token}` };
      return (await guard(new Request("http://pod/metrics", { headers })))?.status ?? 200;
    };
    await eventually(async () => assert.equal(await statusFor(prometheus!), 200));
    assert.deepEqual([await statusFor(unbound!), await statusFor("invalid")], [403, 401]);
  });
});
