import assert from "node:assert/strict";
import { createApiserver } from "../apiserver/mod.ts";
import { systemClock } from "../base/clock.ts";
import { CONTROL_PLANE_VERSION, findControlPlane } from "./_control_plane.ts";
import { CASES, explain, namespaceOf, prepare, report, runSuite } from "./contract/mod.ts";
import { realCluster } from "./real_cluster.ts";

const found = await findControlPlane();
const isComplete = found?.programs.kubeApiserver !== undefined && found.programs.kubeControllerManager !== undefined;
if (!isComplete) {
  console.error(
    `SKIPPED: the contract suite needs kube-apiserver ${CONTROL_PLANE_VERSION} and kube-controller-manager; ` +
      'run "tools/control_plane.ts" to build them',
  );
}

Deno.test({ name: "the server in the process answers as the real one does", ignore: !isComplete }, async (t) => {
  await using cluster = await realCluster({
    controllerManager: [
      "garbage-collector-controller",
      "namespace-controller",
      "clusterrole-aggregation-controller",
    ],
  });
  await using server = createApiserver({ clock: systemClock, rbac: true });
  const user = { name: "admin", groups: ["system:masters", "system:authenticated"] };
  const servers = {
    real: (request: Request) => cluster.fetch(request),
    other: (request: Request) => server.fetch(request, request.headers.has("authorization") ? {} : { user }),
  };
  await Promise.all([prepare(servers.real), prepare(servers.other)]);

  const results = await runSuite(CASES, servers, { namespaceOf });

  for (const result of results) {
    await t.step(`${result.case.area}: ${result.case.name}`, () => {
      if (result.differences.length + result.stale.length > 0) assert.fail(explain(result));
    });
  }
  console.log(report(results));
});
