/** What an operator is, for whatever configures, describes or runs it: a value, which starts when it is told to. */
import type { InstallOptions } from "../manifests/install.ts";
import type { ManifestGroups } from "../manifests/manifests.ts";
import type { RbacRule } from "../manifests/rbac.ts";
import type { Sample } from "../manifests/sample.ts";
import type { SandboxRule } from "../manifests/sandbox.ts";
import type { Part } from "../parts/controller.ts";
import type { SandboxPermissions } from "../parts/sandbox.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import type { ConfigFile } from "./config_file.ts";
import type { LeaderElection } from "./leader_election.ts";
import type { RunOptions } from "./run_options.ts";
import type { ServicesContext } from "./services.ts";
import type { WebhookServing } from "./webhook_options.ts";

/** Where an operator serves its health. */
export interface HealthOptions {
  /** The port of `/livez`, `/readyz` and `/metrics`. @default {8081} */
  readonly port?: number;
  /** The address to listen on. @default {"0.0.0.0"} */
  readonly hostname?: string;
}

/** Who may read an operator's metrics. */
export interface MetricsOptions {
  /**
   * Whether only those may read them whose token the API server knows, and whose roles allow to `get` the path `/metrics`: the operator asks it, by
   * TokenReview and SubjectAccessReview. @default {false}
   */
  readonly guarded?: boolean;
}

/** An operator. */
export interface Operator {
  /** A DNS label, which is part of names that clusters store. */
  readonly name: string;
  /** Its own version. */
  readonly version: string;
  /** What it runs and serves, by their keys. */
  readonly parts: Readonly<Record<string, Part>>;
  /** Where it serves its health; absent where it does not. */
  readonly health: Required<HealthOptions> | undefined;
  /** Who may read its metrics; absent when they are not served. */
  readonly metrics: Required<MetricsOptions> | undefined;
  /** What the program may reach, beside what its parts declare. */
  readonly ownSandbox: SandboxPermissions;
  /** Where and how its webhooks are served, if it has any. */
  readonly webhooks: WebhookServing;
  /** Milliseconds that runs may go on after it is told to stop. */
  readonly gracefulShutdownTimeout: number;
  /** Whether and how its processes agree on the one that works. */
  readonly leaderElection: LeaderElection;
  /** Makes what the runs share. */
  readonly services: ((context: ServicesContext) => unknown) | undefined;
  /** What an `operator.toml` said, if one was read. */
  readonly config: ConfigFile | undefined;
  /**
   * The operator as an `operator.toml` has it: its manifests, rights and permissions follow from what is said there, too.
   *
   * @param text The file's text.
   * @param path Its path, for errors.
   * @throws {Error} If a key or a value in it is wrong.
   */
  configured(text: string, path?: string): Operator;
  /** The definitions of its own kinds. */
  crds(): CustomResourceDefinitionManifest[];
  /** The Deno permissions it needs, each with its reason. */
  sandbox(): SandboxRule[];
  /** The rights in a cluster that it needs, each with its reason. */
  rbac(): RbacRule[];
  /**
   * All that a cluster needs for it: definitions, account and roles, Deployment and what guards it.
   *
   * @param options Where and how it is installed.
   * @throws {TypeError} If an option is wrong.
   */
  manifests(options?: InstallOptions): ManifestGroups;
  /** A sample of each of its own kinds. */
  samples(): Sample[];
  /**
   * Runs it inside a program until the signal.
   *
   * @param options The way to the API server, and what is told to this process alone.
   * @throws {Error} If it cannot go on: the port of its webhooks is taken, services cannot be made, a watch fails for good. Runs that fail are tried again, and end nothing.
   *
   * @example Usage
   * ```ts
   * import { connect, controller, operator } from "@op/sdk";
   * import { Namespace } from "@op/sdk/kinds";
   *
   * const namespaces = controller(Namespace, {
   *   reconcile: ({ metadata }, { log }) => log.info("Namespace seen", { labels: metadata.labels }),
   * });
   * const op = operator({ name: "namespace-operator", parts: { namespaces }, health: false });
   *
   * async function watchNamespaces(signal: AbortSignal): Promise<void> {
   *   await op.run({ connection: await connect(), signal });
   * }
   * ```
   */
  run(options: RunOptions): Promise<void>;
  /**
   * Runs it as the program: reads the arguments (`start`, `manifests`, `crds`, `rbac`, `sandbox`, `version`), ends the process.
   *
   * @param args The arguments. @default {Deno.args}
   */
  main(args?: readonly string[]): Promise<void>;
}
