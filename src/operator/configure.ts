/** Applies the settings of a program to its operator. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { nearest } from "../base/nearest.ts";
import type { Part } from "../parts/controller.ts";
import { compile, type Parts } from "../parts/part_types.ts";
import { checkLeaseTimes } from "../runtime/lease.ts";
import { type LeaderElection, TAKE_OVER_PRIORITY } from "./leader_election.ts";
import type { OperatorData } from "./operator_definition.ts";
import { SettingError, type Settings, type SettingValue } from "./settings.ts";

/**
 * Returns the data of an operator with settings applied; they override the options in its code.
 *
 * @param operator The operator's data.
 * @param settings The settings.
 * @throws {SettingError} If the settings name a controller that the operator does not have.
 */
export function configured(operator: OperatorData, settings: Settings): OperatorData {
  const value = <T>(key: string): T | undefined => settings.get(key)?.value as T | undefined;
  const time = (key: string): number | undefined => {
    const duration = value<Duration>(key);
    return duration === undefined ? undefined : milliseconds(duration);
  };
  return {
    ...operator,
    gracefulShutdownTimeout: time("graceful_shutdown_timeout") ?? operator.gracefulShutdownTimeout,
    health: operator.health && {
      port: value("health.port") ?? operator.health.port,
      hostname: value("health.hostname") ?? operator.health.hostname,
    },
    webhooks: {
      ...operator.webhooks,
      port: value("webhooks.port") ?? operator.webhooks.port,
      hostname: value("webhooks.hostname") ?? operator.webhooks.hostname,
      certSANs: value("webhooks.cert_sans") ?? operator.webhooks.certSANs,
      ...workersOf(value("webhooks.workers") ?? operator.webhooks.workers),
      ...certificatePaths(value("webhooks.certificate"), value("webhooks.key")),
    },
    leaderElection: withElection(operator, settings, value, time),
    parts: withLimits(operator, settings),
  };
}

function withElection(
  { name, leaderElection: code }: OperatorData,
  settings: Settings,
  value: <T>(key: string) => T | undefined,
  time: (key: string) => number | undefined,
): LeaderElection {
  const enabled = value<boolean>("leader_election.enabled");
  const times = {
    leaseDuration: time("leader_election.lease_duration") ?? code.leaseDuration,
    renewDeadline: time("leader_election.renew_deadline") ?? code.renewDeadline,
    retryPeriod: time("leader_election.retry_period") ?? code.retryPeriod,
  };
  checkLeaseTimes(times);
  const takeOver = value<boolean>("leader_election.take_over") ?? false;
  if (takeOver) rejectWithoutLease(name, code, settings);
  return {
    ...times,
    takeOver,
    priority: value("leader_election.priority") ?? (takeOver ? TAKE_OVER_PRIORITY : 0),
    when: takeOver || enabled ? "always" : enabled === undefined ? code.when : "never",
    id: value("leader_election.id") ?? code.id,
    namespace: value("leader_election.namespace") ?? code.namespace,
  };
}

/** A process can take over only from processes that use the Lease too. */
function rejectWithoutLease(name: string, code: LeaderElection, settings: Settings): void {
  const { where } = settings.get("leader_election.take_over")!;
  const enabled = settings.get("leader_election.enabled");
  const shown = where.startsWith("--") || where.startsWith("OP_") ? where : `"leader_election.take_over" in ${where}`;
  if (enabled?.value === false) {
    throw new SettingError(
      `Invalid setting ${shown}: leader election is turned off by ${enabled.where}. Remove one of the two.`,
    );
  }
  if (code.when === "never" && enabled === undefined) {
    throw new SettingError(
      `Invalid setting ${shown}: "${name}" has no Lease, because its code has no controllers or "leaderElection: false". ` +
        "Stop the other process instead.",
    );
  }
}

function workersOf(workers: number | undefined): Pick<OperatorData["webhooks"], "workers"> {
  return workers === undefined ? {} : { workers };
}

function certificatePaths(
  certificate: string | undefined,
  key: string | undefined,
): Pick<OperatorData["webhooks"], "certificate"> {
  if (certificate === undefined && key === undefined) return {};
  if (certificate !== undefined && key !== undefined) return { certificate: { certificate, key } };
  const [given, missing] = key === undefined
    ? ["webhooks.certificate", "webhooks.key"]
    : ["webhooks.key", "webhooks.certificate"];
  throw new SettingError(`Invalid setting "${given}": "${missing}" is not set. Set both.`);
}

function withLimits({ parts }: OperatorData, settings: Settings): Parts {
  const { controllers } = compile(parts);
  const changed: Record<string, Part> = { ...parts };
  for (const [key, setting] of settings) {
    const [, name, limit] = /^controllers\.(.*)\.(concurrency|timeout)$/.exec(key) ?? [];
    if (name === undefined || limit === undefined) continue;
    const part = changed[name];
    if (part === undefined || !controllers.has(name)) rejectController(name, setting, [...controllers.keys()]);
    changed[name] = { ...part, [limit]: setting.value };
  }
  return changed;
}

function rejectController(name: string, { where }: SettingValue, known: readonly string[]): never {
  const suggestion = nearest(name, known);
  const hint = suggestion === undefined
    ? `Available controllers: ${known.join(", ")}.`
    : `Did you mean "${suggestion}"?`;
  throw new SettingError(`Cannot read ${where}: the operator has no controller "${name}". ${hint}`);
}
