/**
 * Each verb of the example's roles is needed: without it, a scenario fails with the missing
 * permission. With all verbs, every scenario passes, and each verb is used.
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
  readonly play: (cluster: MemoryCluster) => Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  { name: "a website comes and goes", play: lifeOfSite },
  {
    name: "a website comes and goes where lists are no streams",
    async play(cluster) {
      const where = ({ path }: { readonly path: string }) => path.includes("sendInitialEvents");
      cluster.inject(faults.status(400), { where, times: Infinity });
      await cluster.restart();
      await lifeOfSite(cluster);
    },
  },
  {
    name: "a website comes and goes where owners are checked",
    options: { ownerReferencesPermissionEnforcement: true },
    play: lifeOfSite,
  },
  {
    name: "a website that fails again and again is reported",
    async play(cluster) {
      await cluster.create(Website, "broken", { spec: { host: "a.example.com", source: "nowhere:" } });
      await cluster.settle();
      await cluster.advance("30m");
    },
  },
  {
    name: "one process works, and gives its lease back",
    options: { leaderElection: true },
    async play(cluster) {
      await cluster.advance("5s");
      const { spec } = await cluster.get(Lease, op.name);
      assert(spec?.holderIdentity?.startsWith(op.name));
    },
  },
];

async function lifeOfSite(cluster: MemoryCluster): Promise<void> {
  await cluster.create(Website, "blog", { spec: { host: "blog.example.com" } });
  await cluster.settle();
  await cluster.get(ConfigMap, "blog-page");
  await cluster.delete(Website, "blog");
  await cluster.settle();
  assert(!await cluster.exists(Website, "blog"));
}

/** Runs a scenario. Returns its error, if any, and the RBAC rules it used. */
async function played(
  { options, play }: Scenario,
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
    await play(cluster);
    return { error: undefined, rules: cluster.rbac() };
  } catch (error) {
    return { error, rules: cluster.rbac() };
  }
}

Deno.test("with all permissions of its declarations every scenario of the example passes, and every permission is used", async () => {
  const used = new Set<string>();
  for (const scenario of SCENARIOS) {
    const { error, rules } = await played(scenario, []);
    assert.equal(error, undefined, scenario.name);
    for (const rule of rules) if (rule.used) used.add(describeRule(rule));
  }
  assert.deepEqual(op.rbac().map(describeRule).filter((right) => !used.has(right)), []);
});

for (const right of new Set(op.rbac().map(describeRule))) {
  Deno.test(`without "${right}" a scenario of the example fails with an error that names it`, async () => {
    const failed: string[] = [];
    for (const scenario of SCENARIOS) {
      const { error } = await played(scenario, [right]);
      const missing = error instanceof SettleError && error.code === "MissingPermissions" ? error.details : [];
      if (missing.some((each) => each.startsWith(`${right} `))) failed.push(scenario.name);
    }
    assert.notDeepEqual(failed, []);
  });
}
