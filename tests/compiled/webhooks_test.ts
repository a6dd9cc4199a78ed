/**
 * The compiled operator's webhooks, called by a real API server over TLS, with certificates that it
 * issues itself and an admission policy that limits its writes of them.
 */
import assert from "node:assert/strict";
import { CustomResourceDefinition, Secret, ValidatingWebhookConfiguration } from "../../src/kinds/mod.ts";
import type { Manifest } from "../../src/manifests/manifest.ts";
import { certificatesIn } from "../../src/runtime/webhooks/certificate_secret.ts";
import { type RealCluster, realCluster } from "../../src/testing/real_cluster.ts";
import { createAccess, tokenOf } from "../fixtures/service_account.ts";
import { gadgetOperator } from "../fixtures/operators/webhooks.ts";
import { createWebhookObjects } from "../fixtures/webhook_objects.ts";
import { type Send, untilWebhooksCalled, WEBHOOK_SUITE } from "../fixtures/webhook_suite.ts";
import { adminClient, watched } from "../fixtures/watched.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";
import { compiledPermissions, startAsPod } from "../fixtures/operator_pod.ts";

Deno.test("a real API server calls the webhooks of a compiled operator over TLS", async (t) => {
  const port = freePort();
  await using built = await buildOperator(`
    import { gadgetOperator } from "repository/tests/fixtures/operators/webhooks.ts";
    const op = gadgetOperator(${port});
    export default op;
    if (import.meta.main) await op.main();
  `);
  await using cluster = await realCluster({ audit: "everything" });
  const client = adminClient(cluster);
  const send = senderFor(cluster);
  const op = gadgetOperator(port);
  const { crd, webhook } = op.manifests({ namespace: "op-system", webhookUrl: `https://127.0.0.1:${port}` });
  for (const definition of crd) await client.create(CustomResourceDefinition, definition as never);
  // The pod is in another namespace than the one that the webhooks exclude.
  const { webhook: own } = op.manifests({ namespace: "default" });
  await createWebhookObjects(client, [...own.filter(isSecret), ...webhook.filter((object) => !isSecret(object))]);
  await createAccess(
    client,
    op.manifests({ namespace: "default" }).rbac.filter(({ kind, metadata }) =>
      kind !== "ClusterRole" || metadata.name === op.name
    ),
  );
  const token = await tokenOf(cluster, "default", op.name);
  await using operator = await startAsPod(built.path, { cluster, token });
  await operator.logged(({ msg }) => msg === "Webhooks served");
  await untilWebhooksCalled(send);

  for (const [name, check] of Object.entries(WEBHOOK_SUITE)) await t.step(name, () => check(send));

  await t.step(
    "audit annotations are in the server's log, and failures in the operator's, with the same uid",
    async () => {
      const events = await cluster.auditLog() as unknown as { readonly annotations?: Record<string, string> }[];
      const key = "gadget-rules.gadget-operator.gadgets.example.com/asked-by";
      assert(
        events.some(({ annotations }) => annotations?.[key] === "admin"),
        "the audit log has no annotation of the webhook",
      );
      const line = await operator.logged(({ msg }) => msg === "Webhook failed");
      assert.match(String(line.uid), /^[-0-9a-f]{36}$/);
      assert.match(String(line.error), /^no such (thing|mood)$/);
    },
  );

  await t.step("the executable may listen only on the declared ports, and read only the declared files", async () => {
    const { allow_net, allow_read } = await compiledPermissions(built.path);
    assert.deepEqual(allow_net, [
      "kubernetes.default.svc:443",
      `127.0.0.1:${port + 10}`,
      ...[0, 1, 2, 3].map((i) => `127.0.0.1:${port + i}`),
    ]);
    assert.deepEqual([...allow_read as string[]].sort(), [
      "/etc/op",
      "/etc/op-webhooks",
      "/var/run/secrets/kubernetes.io/serviceaccount",
    ]);
  });

  await t.step("no request of the operator's account was forbidden", async () => {
    const events = await cluster.auditLog();
    const forbidden = events.filter(({ user, responseStatus }) =>
      user.username === `system:serviceaccount:default:${op.name}` && responseStatus?.code === 403
    );
    assert.deepEqual(forbidden.map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`), []);
  });

  await t.step(
    "readiness reports the webhooks, metrics the calls and the days until the certificate expires",
    async () => {
      const health = `http://127.0.0.1:${port + 10}`;
      const ready = await (await fetch(`${health}/readyz`)).text();
      assert.match(ready, new RegExp(`^\\[\\+\\]webhooks: served on port ${port}$`, "m"));
      const metrics = await (await fetch(`${health}/metrics`)).text();
      assert.match(
        metrics,
        /^controller_runtime_webhook_requests_total\{webhook="\/validate\/gadget-rules",code="200"\} [1-9]/m,
      );
      assert.match(metrics, /^controller_runtime_webhook_panics_total\{webhook="\/validate\/gadget-rules"\} 1$/m);
      assert.match(metrics, /^op_certificate_expiry_seconds\{certificate="server"\} 77[67]\d\d\d\d/m);
    },
  );

  await t.step(
    "the operator renews its certificate authority while the server continues to call the webhooks",
    async () => {
      const annotations = { "op/authority-since": "1970-01-01T00:00:00Z" };
      const { data = {} } = await client.get(Secret, "gadget-operator-webhook", { namespace: "default" });
      const [before] = certificatesIn(atob(data["ca.crt"] ?? ""));
      await client.patch(Secret, "gadget-operator-webhook", { metadata: { annotations } }, { namespace: "default" });
      // The new authority precedes the one that is still in use.
      await using configurations = await watched(client, ValidatingWebhookConfiguration);
      await configurations.until((all) =>
        all.some(({ metadata, webhooks }) => {
          const published = certificatesIn(atob(webhooks?.[0]?.clientConfig.caBundle ?? ""));
          return metadata.name === op.name && published.length === 2 && published[1] === before;
        })
      );
      await operator.logged(({ msg, step }) => msg === "Webhook certificates renewed" && step === "add an authority");
      await untilWebhooksCalled(send);
    },
  );

  await t.step("SIGTERM ends the operator with exit code 0", async () => {
    assert.equal(await operator.stop("SIGTERM"), 0);
  });
});

function isSecret({ kind }: Manifest): boolean {
  return kind === "Secret";
}

function senderFor(cluster: RealCluster): Send {
  return async (method, path, body, type = "application/json") => {
    const response = await cluster.fetch(path, {
      method,
      headers: { "content-type": type },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text), warnings: response.headers.get("warning") };
  };
}
