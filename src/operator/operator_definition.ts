/** The options of an operator with their defaults, which only the SDK reads. */
import type { Parts } from "../parts/part_types.ts";
import type { SandboxPermissions } from "../parts/sandbox.ts";
import type { Units } from "../parts/units.ts";
import type { ConfigFile } from "./config_file.ts";
import type { LeaderElection } from "./leader_election.ts";
import type { HealthOptions, MetricsOptions, Operator } from "./operator_value.ts";
import type { PartFacts } from "./part_facts.ts";
import type { ServicesContext } from "./services.ts";
import type { Settings } from "./settings.ts";
import type { WebhookServing } from "./webhook_options.ts";

/** The name, the parts and the settings of an operator, with defaults applied. */
export interface OperatorData {
  readonly name: string;
  readonly version: string;
  readonly parts: Parts;
  /** Where health is served, or `undefined` if it is not. */
  readonly health: Required<HealthOptions> | undefined;
  /** Options of the metrics endpoint, or `undefined` if metrics are not served. */
  readonly metrics: Required<MetricsOptions> | undefined;
  /** Sandbox permissions in addition to those that the parts declare. */
  readonly ownSandbox: SandboxPermissions;
  /** Where and how webhooks are served. */
  readonly webhooks: WebhookServing;
  /**
   * How long running reconciles may take to finish after the operator is stopped, in milliseconds.
   */
  readonly gracefulShutdownTimeout: number;
  /** Whether and how the processes elect a leader. */
  readonly leaderElection: LeaderElection;
  /** Creates the services. */
  readonly services: ((context: ServicesContext) => unknown) | undefined;
  /** The `operator.toml` that was read, if any. */
  readonly config: ConfigFile | undefined;
}

/** An operator with everything that the SDK and the command line need to know about it. */
export interface OperatorDefinition extends Operator, OperatorData {
  /** The units of the parts. */
  readonly units: Units;
  /** Returns facts about the parts as plain data, for the command line. */
  facts(): PartFacts;
  withSettings(text: string, path?: string): OperatorDefinition;
  /**
   * Returns the operator with the settings of a process.
   *
   * @param settings The settings.
   * @throws {SettingError} If the settings name a controller that the operator does not have.
   */
  configured(settings: Settings): OperatorDefinition;
}

/**
 * Returns an operator with its options.
 *
 * @param operator The operator, created by `operator()`.
 * @throws {TypeError} If it was created in another way.
 */
export function definitionOf(operator: Operator): OperatorDefinition {
  if (!("leaderElection" in operator)) {
    throw new TypeError(`Operator "${operator.name}": it is not the result of operator(). Create it with operator().`);
  }
  return operator as OperatorDefinition;
}
