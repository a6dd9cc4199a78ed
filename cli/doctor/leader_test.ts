import assert from "node:assert/strict";
import { Lease } from "@op/sdk/kinds";
import { memoryCluster } from "@op/sdk/testing";
import type { Cluster } from "../cluster.ts";
import type { OperatorFacts } from "../inspect.ts";
import { leader } from "./checks.ts";

const NOW = Date.UTC(2030, 0, 1);

/** Returns the findings for a Lease with these annotations: `verdict: message`. */
async function findingsOf(annotations: Record<string, string>): Promise<string[]> {
  await using cluster = await memoryCluster({});
  const spec = { holderIdentity: "pod-1", leaseDurationSeconds: 15, renewTime: "2030-01-01T00:00:00.000000Z" };
  await cluster.create(Lease, "shop", { metadata: { annotations }, spec } as never);
  const facts = {
    name: "shop",
    rbac: [{
      group: "coordination.k8s.io",
      resource: "leases",
      verb: "patch",
      resourceNames: ["shop"],
      namespaces: ["default"],
    }],
  } as unknown as OperatorFacts;
  const findings = await leader({ client: cluster.client } as unknown as Cluster, facts, NOW + 5000);
  return findings.map(({ verdict, message }) => `${verdict}: ${message}`);
}

const LEADS = "ok: pod-1 is the leader (renewed 5 s ago)";

Deno.test("op doctor reports who paused an operator and until when", async () => {
  assert.deepEqual(
    await findingsOf({ "shop.op/paused-by": "jane@laptop", "shop.op/paused-until": "2030-01-01T01:00:00Z" }),
    [LEADS, 'warning: shop is paused by jane@laptop until 2030-01-01T01:00:00Z. "op resume shop" resumes it.'],
  );
});

Deno.test("op doctor reports a process that asks to take over", async () => {
  assert.deepEqual(
    await findingsOf({ "shop.op/take-over-by": "laptop_1", "shop.op/take-over-priority": "100" }),
    [LEADS, "warning: laptop_1 asks to take over, with priority 100"],
  );
});

Deno.test("op doctor does not report a pause that has ended, or the pause of another operator", async () => {
  assert.deepEqual(
    await findingsOf({
      "shop.op/paused-by": "jane",
      "shop.op/paused-until": "2029-12-31T00:00:00Z",
      "blog.op/paused-by": "jane",
    }),
    [LEADS],
  );
});
