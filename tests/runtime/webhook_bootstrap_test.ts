/**
 * Webhooks of an operator that is not running must not prevent its start. Every running replica
 * serves them.
 */
import assert from "node:assert/strict";
import { controller, operator, webhook } from "@op/sdk";
import {
  ConfigMap,
  MutatingWebhookConfiguration,
  Namespace,
  Pod,
  ValidatingWebhookConfiguration,
} from "../../src/kinds/mod.ts";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { ApiError } from "../../src/kube/api_error.ts";
import { Client } from "../../src/kube/client.ts";
import { webhookConfigurations } from "../../src/manifests/webhooks.ts";
import type { Parts } from "../../src/parts/part_types.ts";
import { startOperator } from "../../src/operator/running.ts";
import { eventually } from "../eventually.ts";
import { serverWithWebhooks, servesWebhooks } from "./_webhooks.ts";
import { noteRules, post, QUICK, review } from "../fixtures/reviews.ts";

/** The namespace of the operator. */
const OPERATOR_NAMESPACE = "guard-system";
const both = { mutate() {}, validate() {} };
const POD = { spec: { containers: [{ name: "main", image: "busybox" }] } };

/** Returns the namespaces in which pods can be created while no process serves the webhooks. */
async function namespacesWithPods(parts: Parts): Promise<string[]> {
  await using server = createApiserver();
  const client = new Client({ url: "http://api.server", fetch: (request) => server.fetch(request), close() {} });
  for (const namespace of [OPERATOR_NAMESPACE, "shop"]) {
    await client.create(Namespace, { metadata: { name: namespace } });
  }
  const place = { url: "https://127.0.0.1:1" };
  for (const configuration of webhookConfigurations("guard", parts, { place, namespace: OPERATOR_NAMESPACE })) {
    const kind = configuration.kind.startsWith("M") ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
    await client.create(kind as typeof ValidatingWebhookConfiguration, configuration as never);
  }
  const created: string[] = [];
  for (const namespace of [OPERATOR_NAMESPACE, "kube-system", "shop"]) {
    try {
      await client.create(Pod, { metadata: { name: "a", namespace }, ...POD } as never);
      created.push(namespace);
    } catch (error) {
      assert(error instanceof ApiError && error.status === 500, String(error));
      assert.match(error.message, /failed calling webhook/);
    }
  }
  return created;
}

const CASES: readonly { name: string; parts: Parts; allowed: readonly string[] }[] = [
  {
    name: "with the default failurePolicy",
    parts: { rules: webhook(Pod, both) },
    allowed: [OPERATOR_NAMESPACE, "kube-system", "shop"],
  },
  {
    name: "with failurePolicy Fail",
    parts: { rules: webhook(Pod, { ...both, failurePolicy: "Fail" }) },
    allowed: [OPERATOR_NAMESPACE, "kube-system"],
  },
  {
    name: "with failurePolicy Fail in all namespaces",
    parts: { rules: webhook(Pod, { ...both, failurePolicy: "Fail", allNamespaces: true }) },
    allowed: [],
  },
];

for (const { name, parts, allowed } of CASES) {
  Deno.test(`while an operator is not running, its webhooks of pods ${name} allow pods in ${allowed.join(", ") || "no namespace"}`, async () => {
    assert.deepEqual(await namespacesWithPods(parts), allowed);
  });
}

Deno.test("of two replicas, one leads and both serve webhooks", async () => {
  const { connection } = await serverWithWebhooks();
  const op = operator({
    name: "notes",
    parts: { noteRules, maps: controller(ConfigMap, { reconcile() {} }) },
    health: false,
    leaderElection: true,
    webhooks: { hostname: "127.0.0.1", port: 0, certSANs: ["127.0.0.1"] },
  });
  const start = () =>
    startOperator(op, { connection, serveWebhooks: true, certificateTimes: QUICK, checkAccess: false });
  await using one = start();
  await using other = start();
  const replicas = [one, other];
  await eventually(() => replicas.every(servesWebhooks) && replicas.some(({ isLeading }) => isLeading), {
    state: () => JSON.stringify(replicas.map((running) => running.readiness())),
  });
  assert.equal(replicas.filter(({ isLeading }) => isLeading).length, 1);

  const client = new Client(connection);
  const { webhooks } = await client.get(ValidatingWebhookConfiguration, "notes");
  using httpClient = Deno.createHttpClient({ caCerts: [atob(webhooks?.[0]?.clientConfig.caBundle ?? "")] });
  for (const { webhookPort } of replicas) {
    assert.equal((await (await post(webhookPort!, review(), httpClient)).json()).response.allowed, true);
  }
});
