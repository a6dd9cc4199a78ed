/**
 * The roles of the website example have every RBAC permission that it needs and no other: without
 * one of them, a scenario fails.
 */
import assert from "node:assert/strict";
import { DIRECTORY } from "../../examples/01_website/controller.ts";
import op from "../../examples/01_website/main.ts";
import { Website } from "../../examples/01_website/website.ts";
import { ConfigMap, Lease } from "../../src/kinds/mod.ts";
import { describeRule } from "../../src/parts/rbac.ts";
import { faults } from "../../src/testing/faults.ts";
import { type MemoryCluster, memoryCluster, type MemoryClusterOptions } from "../../src/testing/memory_cluster.ts";
import type { UsedRbacRule } from "../../src/testing/rbac.ts";
import { SettleError } from "../../src/testing/settle_error.ts";

interface Scenario {
  readonly name: string;
  readonly options?: MemoryClusterOptions;
  readonly run: (cluster: MemoryCluster) => Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "a website is created and deleted", run: createAndDelete },
  {
    name: "a website is created and deleted on a server without streaming lists",
    async run(cluster) {
      const where = ({ path }: { readonly path: string }) => path.includes("sendInitialEvents");
      cluster.inject(faults.status(400), { where, times: Infinity });
      await cluster.restart();
      await createAndDelete(cluster);
    },
  },
  {
    name: "a website is created and deleted on a server that enforces permissions of owner references",
    options: { ownerReferencesPermissionEnforcement: true },
    run: createAndDelete,
  },
  {
    name: "a website that fails repeatedly is reported",
    async run(cluster) {
      await cluster.create(Website, "broken", { spec: { host: "a.example.com", source: "nowhere:" } });
      await cluster.settle();
      await cluster.advance("30m");
    },
  },
  {
    name: "a process leads, and releases its Lease",
    options: { leaderElection: true },
    async run(cluster) {
      await cluster.advance("5s");
      const { spec } = await cluster.get(Lease, op.name);
      assert(spec?.holderIdentity?.startsWith(op.name));
    },
  },
];

async function createAndDelete(cluster: MemoryCluster): Promise<void> {
  await cluster.create(Website, "blog", { spec: { host: "blog.example.com" } });
  await cluster.settle();
  await cluster.get(ConfigMap, "blog-page");
  await cluster.delete(Website, "blog");
  await cluster.settle();
  assert(!await cluster.exists(Website, "blog"));
}

/** Runs a scenario. Returns its error, if any, and the RBAC rules it used. */
async function runScenario(
  { options, run }: Scenario,
  without: readonly string[],
): Promise<{ readonly error: unknown; readonly rules: readonly UsedRbacRule[] }> {
  await using cluster = await memoryCluster({
    operator: op,
    namespaces: [DIRECTORY],
    // With the check at start, the operator would wait for the missing permission and send no
    // request.
    checkAccess: false,
    rbac: { without },
    failures: "collect",
    ...options,
  });
  try {
    await run(cluster);
    return { error: undefined, rules: cluster.rbac() };
  } catch (error) {
    return { error, rules: cluster.rbac() };
  }
}

Deno.test("with all declared RBAC permissions, every scenario of the example passes and uses them all", async () => {
  const used = new Set<string>();
  for (const scenario of SCENARIOS) {
    const { error, rules } = await runScenario(scenario, []);
    assert.equal(error, undefined, scenario.name);
    for (const rule of rules) if (rule.used) used.add(describeRule(rule));
  }
  assert.deepEqual(op.rbac().map(describeRule).filter((rule) => !used.has(rule)), []);
});

for (const rule of new Set(op.rbac().map(describeRule))) {
  Deno.test(`without the RBAC permission "${rule}", a scenario of the example fails with an error that names it`, async () => {
    const failed: string[] = [];
    for (const scenario of SCENARIOS) {
      const { error } = await runScenario(scenario, [rule]);
      const missing = error instanceof SettleError && error.code === "MissingPermissions" ? error.details : [];
      if (missing.some((each) => each.startsWith(`${rule} `))) failed.push(scenario.name);
    }
    assert.notDeepEqual(failed, []);
  });
}
