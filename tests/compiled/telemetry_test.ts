/**
 * A compiled operator that sends traces: enabled at build time, with the endpoint set at run time
 * and no additional permissions.
 */
import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { ConfigMap } from "../../src/kinds/mod.ts";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { serveApiserver } from "../../src/apiserver/serve.ts";
import { Client } from "../../src/kube/client.ts";
import { localCertificate } from "../../src/testing/local_certificate.ts";
import { startCollector } from "../fixtures/span_collector.ts";
import { buildOperator } from "../fixtures/build_operator.ts";
import { compiledPermissions, startAsPod } from "../fixtures/operator_pod.ts";

Deno.test("an executable built with telemetry sends its traces, and has no additional permissions", async () => {
  await using built = await buildOperator(
    `
    import { access, controller, operator } from "@op/sdk";
    import { ConfigMap } from "@op/sdk/kinds";
    const maps = controller(ConfigMap, {
      uses: [access(ConfigMap, "get")],
      async reconcile({ metadata: { name } }, { getLive, log }) {
        if (name !== "seen") return;
        await getLive(ConfigMap, name);
        log.info("ConfigMap seen");
      },
    });
    const op = operator({ name: "map-operator", parts: { maps }, health: false, leaderElection: false });
    export default op;
    if (import.meta.main) await op.main();
  `,
    "[build]\ntelemetry = true\n",
  );
  const { allow_net, allow_env } = await compiledPermissions(built.path);
  assert.deepEqual(allow_net, ["kubernetes.default.svc:443"]);
  assert.deepEqual((allow_env as string[]).filter((name) => name.startsWith("OTEL_")), []);

  const certificate = await localCertificate(["kubernetes.default.svc"]);
  await using server = createApiserver({ clock: systemClock });
  const parents: (string | null)[] = [];
  const observed = Object.assign(Object.create(server), {
    fetch(request: Request) {
      if (request.url.endsWith("/configmaps/seen")) parents.push(request.headers.get("traceparent"));
      return server.fetch(request);
    },
  });
  await using served = serveApiserver(observed, { certificate });
  const client = new Client({ url: served.url, fetch: (request) => server.fetch(request), close() {} });
  await client.create(ConfigMap, { metadata: { name: "seen", namespace: "default" } });
  await using collector = startCollector();
  // The build decides whether an executable sends traces, so this variable must have no effect.
  const { OTEL_DENO: _, ...env } = collector.env;
  await using operator = await startAsPod(built.path, {
    cluster: { caCert: certificate.caCert, port: Number(new URL(served.url).port) },
    token: served.token,
    env,
  });
  const line = await operator.logged(({ msg }) => msg === "ConfigMap seen");
  assert.equal(await operator.stop("SIGTERM"), 0);
  const span = collector.spans.find(({ spanId }) => spanId === line.span_id);
  assert.deepEqual([span?.name, span?.attributes["k8s.object.name"]], ["reconcile maps", "seen"]);
  // An API server with tracing adds its spans to the reconcile's trace.
  assert.equal(parents.length, 1);
  assert.match(parents[0]!, new RegExp(`^00-${span!.traceId}-`));
});
