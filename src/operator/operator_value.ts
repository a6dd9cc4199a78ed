/** The value that `operator()` returns. */
import type { InstallOptions } from "../manifests/install.ts";
import type { ManifestGroups } from "../manifests/manifests.ts";
import type { RbacRule } from "../manifests/rbac.ts";
import type { Sample } from "../manifests/sample.ts";
import type { SandboxRule } from "../manifests/sandbox.ts";
import type { Part } from "../parts/controller.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import type { RunOptions } from "./run_options.ts";

/** Options of the health server. */
export interface HealthOptions {
  /** The port of `/livez`, `/readyz` and `/metrics`. @default {8081} */
  readonly port?: number;
  /** The address to listen on. @default {"0.0.0.0"} */
  readonly hostname?: string;
}

/** Options of the metrics endpoint. */
export interface MetricsOptions {
  /**
   * Whether a request for `/metrics` needs a bearer token that the API server accepts and whose
   * user may `get` the path `/metrics`. The operator checks both by TokenReview and
   * SubjectAccessReview.
   *
   * @default {false}
   */
  readonly authorization?: boolean;
}

/**
 * An operator. It starts nothing until {@linkcode Operator.main} or {@linkcode Operator.run} is
 * called.
 */
export interface Operator {
  /** The operator's name: a DNS label, which is part of names that clusters store. */
  readonly name: string;
  /** The operator's version. */
  readonly version: string;
  /** The parts by their keys. */
  readonly parts: Readonly<Record<string, Part>>;
  /**
   * Returns the operator with the settings of an `operator.toml`, which also change its manifests,
   * its RBAC permissions and its sandbox.
   *
   * @param text The contents of the file.
   * @param path The path of the file, for error messages. @default {"operator.toml"}
   * @throws {Error} If a key or a value in the file is invalid.
   */
  withSettings(text: string, path?: string): Operator;
  /** Returns the definitions of the operator's own kinds. */
  crds(): CustomResourceDefinitionManifest[];
  /** Returns the sandbox permissions that the operator needs, each with its reason. */
  sandbox(): SandboxRule[];
  /** Returns the RBAC permissions that the operator needs, each with its reason. */
  rbac(): RbacRule[];
  /**
   * Returns everything that a cluster needs to run the operator: definitions, service account and
   * roles, Deployment, webhook configurations, network policy, monitoring.
   *
   * @param options Where and how it is installed.
   * @throws {TypeError} If an option is invalid.
   */
  manifests(options?: InstallOptions): ManifestGroups;
  /** Returns a sample object of each of the operator's own kinds. */
  samples(): Sample[];
  /**
   * Runs the operator inside a program, until the signal is aborted.
   *
   * @param options The connection to the API server, and settings of this process.
   * @throws {Error} If the operator cannot run: the port of its webhooks is in use, its services
   *   cannot be created, or a watch fails permanently. Failed reconciles are retried and do not
   *   end it.
   *
   * @example Usage
   * ```ts
   * import { controller, operator } from "@op/sdk";
   * import { connect } from "@op/sdk/client";
   * import { Namespace } from "@op/sdk/kinds";
   *
   * const namespaces = controller(Namespace, {
   *   reconcile({ metadata }, { log }) {
   *     log.info("Namespace seen", { labels: metadata.labels });
   *   },
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
   * Runs a command of the operator's program (`start`, `manifests`, `crds`, `rbac`, `sandbox`,
   * `version`) and exits the process.
   *
   * @param args The command and its options. @default {Deno.args}
   */
  main(args?: readonly string[]): Promise<void>;
}
