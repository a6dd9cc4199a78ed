import assert from "node:assert/strict";
import { definitionOf } from "./operator_definition.ts";
import { ConfigMap } from "../kinds/mod.ts";
import { controller } from "../parts/controller.ts";
import { operator } from "./operator.ts";
import { fileSettings } from "./config_file.ts";

const op = operator({
  name: "test",
  parts: { maps: controller(ConfigMap, { concurrency: 10, reconcile() {} }) },
  gracefulShutdownTimeout: "25s",
});
const withText = (text: string) => definitionOf(op).configured(fileSettings(text, "f"));

Deno.test("configured overrides the options of operator() with settings, and does not change other options", () => {
  const { gracefulShutdownTimeout, health, leaderElection, parts, units } = withText(`
    [operator]
    graceful_shutdown_timeout = "5s"
    [operator.health]
    port = 9000
    [operator.leader_election]
    enabled = true
    id = "other"
    lease_duration = "60s"
    [operator.controllers.maps]
    concurrency = 2
    timeout = "1m"
  `);
  assert.equal(gracefulShutdownTimeout, 5000);
  assert.deepEqual(health, { port: 9000, hostname: "0.0.0.0" });
  assert.deepEqual(leaderElection, {
    when: "always",
    id: "other",
    namespace: undefined,
    leaseDuration: 60_000,
    renewDeadline: 10_000,
    retryPeriod: 2000,
    priority: 0,
    takeOver: false,
  });
  assert(parts.maps?.part === "controller");
  assert.deepEqual([parts.maps.concurrency, parts.maps.timeout], [2, "1m"]);
  assert.equal(units.controllers.get("maps"), parts.maps);
  assert(op.parts.maps?.part === "controller");
  assert.equal(op.parts.maps.concurrency, 10, "configured() must not change the operator");
});

Deno.test("configured rejects an unknown controller, and a lease duration that is too short for the renew deadline", () => {
  assert.throws(() => withText("[operator.controllers.map]\nconcurrency = 2"), {
    name: "SettingError",
    message: 'Cannot read "f": the operator has no controller "map". Did you mean "maps"?',
  });
  assert.throws(() => withText('[operator.leader_election]\nlease_duration = "5s"'), { name: "RangeError" });
});

Deno.test("configured turns leader election on for a process that takes over, with priority 100 by default", () => {
  const { when, takeOver, priority } = withText("[operator.leader_election]\ntake_over = true").leaderElection;
  assert.deepEqual([when, takeOver, priority], ["always", true, 100]);
  assert.equal(withText("[operator.leader_election]\npriority = 7").leaderElection.priority, 7);
});

const CONTRADICTIONS = [
  {
    name: "from an operator without a Lease",
    elected: false,
    text: "take_over = true",
    message: 'Invalid setting "leader_election.take_over" in "f": "test" has no Lease, because its code has no ' +
      'controllers or "leaderElection: false". Stop the other process instead.',
  },
  {
    name: "without leader election",
    elected: true,
    text: "take_over = true\nenabled = false",
    message:
      'Invalid setting "leader_election.take_over" in "f": leader election is turned off by "f". Remove one of ' +
      "the two.",
  },
  {
    name: "with a priority that is not an integer",
    elected: true,
    text: "priority = 1.5",
    message: 'Invalid setting "leader_election.priority" in "f": must be a positive integer, got 1.5.',
  },
] as const;

for (const { name, elected, text, message } of CONTRADICTIONS) {
  Deno.test(`configured rejects taking over ${name}`, () => {
    const given = operator({ name: "test", parts: op.parts, leaderElection: elected });
    const settings = () => fileSettings(`[operator.leader_election]\n${text}`, "f");
    assert.throws(() => definitionOf(given).configured(settings()), { name: "SettingError", message });
  });
}
