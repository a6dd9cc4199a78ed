/** The value that `operator()` returns. */
import type { ClusterAccess } from "../kube/cluster_access.ts";
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

/** An operator that runs in this process. Returned by {@linkcode Operator.start}. */
export interface RunningOperator extends AsyncDisposable {
  /**
   * Resolves when the operator is ready: its services exist, its caches are filled, and its
   * webhooks are served. With leader election, another process may lead. A missing kind delays it
   * until the API server serves the kind.
   *
   * Rejects with the operator's error if it fails before, and with an `AbortError` if it is
   * stopped before.
   */
  readonly ready: Promise<void>;
  /**
   * Resolves when the operator has stopped. Rejects if it failed, as {@linkcode Operator.run}
   * does. An error that `ready` reported needs no handler here.
   */
  readonly ended: Promise<void>;
  /**
   * Access to the API server, for other client libraries.
   *
   * @throws {Error} Until the operator is connected. It is when `ready` has resolved.
   */
  readonly connection: ClusterAccess;
  /**
   * Stops the operator: no further reconcile starts, and running ones may finish within
   * `gracefulShutdownTimeout`. Disposing of the operator does the same.
   *
   * @returns A promise that resolves when the operator has stopped. Only `ended` reports errors.
   */
  stop(): Promise<void>;
}

/**
 * An operator. It starts nothing until {@linkcode Operator.main}, {@linkcode Operator.start} or
 * {@linkcode Operator.run} is called.
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
   * Starts the operator inside a program. Several operators may run in one program.
   *
   * @param options The connection to the API server, and settings of this process.
   * @returns The running operator. Its property `ended` rejects if the operator fails.
   * @throws {SettingError} If a namespace or the selector in the options is invalid.
   *
   * @example Usage
   * ```ts
   * import assert from "node:assert/strict";
   * import { controller, operator } from "@op/sdk";
   * import { Namespace } from "@op/sdk/kinds";
   * import { memoryCluster } from "@op/sdk/testing";
   *
   * const namespaces = controller(Namespace, { reconcile() {} });
   * const op = operator({ name: "namespace-operator", parts: { namespaces } });
   *
   * await using cluster = await memoryCluster();
   * await using running = op.start({ connection: cluster.connection });
   * await running.ready;
   * const response = await running.connection.fetch("/api/v1/namespaces/default");
   * assert.equal((await response.json()).metadata.name, "default");
   * ```
   */
  start(options?: RunOptions): RunningOperator;
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
   *   await op.run({ signal });
   * }
   * ```
   */
  run(options?: RunOptions): Promise<void>;
  /**
   * Runs a command of the operator's program (`start`, `manifests`, `crds`, `rbac`, `sandbox`,
   * `version`) and exits the process.
   *
   * @param args The command and its options. @default {Deno.args}
   */
  main(args?: readonly string[]): Promise<void>;
}
