import assert from "node:assert/strict";
import { Lease } from "../kinds/mod.ts";
import { memoryCluster } from "../testing/mod.ts";
import type { Logger } from "../runtime/logger.ts";
import { warnOfLeader } from "./lease_warning.ts";

const NOW = Date.UTC(2030, 0, 1);

/** Returns what is logged and written to the terminal when an operator starts. */
async function warningsOf(spec: Record<string, unknown> | undefined, isTerminal: boolean): Promise<unknown[]> {
  await using cluster = await memoryCluster({});
  if (spec !== undefined) await cluster.create(Lease, "shop", { spec: { leaseDurationSeconds: 15, ...spec } });
  const warnings: unknown[] = [];
  const log = {
    debug() {},
    warn: (message: string, fields: unknown) => void warnings.push([message, fields]),
  } as unknown as Logger;
  await warnOfLeader({ id: "shop", namespace: undefined }, {
    client: cluster.client,
    log,
    namespace: "default",
    now: NOW + 5000,
    terminal: isTerminal ? (text) => warnings.push(text) : undefined,
  });
  return warnings;
}

const HELD = { holderIdentity: "pod-1", renewTime: "2030-01-01T00:00:00.000000Z" };

Deno.test("warnOfLeader logs a warning while another process holds the Lease", async () => {
  assert.deepEqual(await warningsOf(HELD, false), [[
    "Reconciling without leader election although another process leads",
    { lease: "default/shop", leader: "pod-1" },
  ]]);
});

Deno.test("warnOfLeader writes in red on a terminal", async () => {
  const [text] = await warningsOf(HELD, true);
  assert.equal(
    text,
    "\x1b[31mWARNING: pod-1 holds the Lease default/shop and writes the same objects. " +
      "Replace --no-leader-election with --take-over, or stop that process.\x1b[0m\n",
  );
});

for (
  const [name, spec] of [
    ["there is no Lease", undefined],
    ["the Lease has no holder", { renewTime: HELD.renewTime }],
    ["the Lease has expired", { ...HELD, renewTime: "2029-12-31T23:59:00.000000Z" }],
  ] as const
) {
  Deno.test(`warnOfLeader does not warn if ${name}`, async () => {
    assert.deepEqual(await warningsOf(spec, false), []);
  });
}
