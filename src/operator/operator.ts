/** Creates operators from parts. */
import type { Part } from "../parts/controller.ts";
import { compile } from "../parts/part_types.ts";
import { needsRunner } from "../parts/units.ts";
import { definitionsOf } from "../manifests/handler_state.ts";
import type { CertificateWrites } from "../manifests/certificate_policy.ts";
import type { InstallOptions } from "../manifests/install.ts";
import { manifestsOf, samplesOf } from "../manifests/manifests.ts";
import { rbacRulesOf, withoutCertificates } from "../manifests/rbac.ts";
import { sandboxRulesOf } from "../manifests/sandbox.ts";
import type { SandboxPermissions } from "../parts/sandbox.ts";
import type { Duration } from "../base/duration.ts";
import { milliseconds } from "../base/duration.ts";
import { type ConfigFile, readConfigFile } from "./config_file.ts";
import { configured } from "./configure.ts";
import { connect } from "./connect.ts";
import { leaderElectionOf, type LeaderElectionOptions } from "./leader_election.ts";
import { main } from "./main.ts";
import { checkOperator } from "./operator_checks.ts";
import type { OperatorData, OperatorDefinition } from "./operator_definition.ts";
import type { HealthOptions, MetricsOptions, Operator } from "./operator_value.ts";
import { factsOf } from "./part_facts.ts";
import { runtimeScope } from "./run_settings.ts";
import { variablesOf } from "./setting_list.ts";
import type { ServicesContext } from "./services.ts";
import { certificateSecret } from "../manifests/webhooks.ts";
import { publishTargets } from "./webhook_server.ts";
import { startOperator } from "./running.ts";
import { innerPorts, type WebhookServerOptions, webhookServing } from "./webhook_options.ts";

/** Options of {@linkcode operator}. */
export interface OperatorOptions<Services = unknown> {
  /**
   * The operator's name: a DNS label. It is part of names that clusters store, such as field
   * managers and finalizers.
   */
  readonly name: string;
  /**
   * The parts by key. Keys are part of stored names too, so they must not change after a release.
   */
  readonly parts: Readonly<Record<string, Part<Services>>>;
  /**
   * Creates values that reconciles and webhooks share, such as a database client. It is called
   * once, before the first request to the API server; disposable services are disposed after the
   * last reconcile. A test replaces them: `memoryCluster({ operator, services })`.
   *
   * @default {none}
   */
  readonly services?: (context: ServicesContext) => Services | Promise<Services>;
  /** The operator's version, which the command `version` prints. @default {"0.0.0"} */
  readonly version?: string;
  /** The health server, or `false` for none. @default {port 8081 on all addresses} */
  readonly health?: HealthOptions | false;
  /**
   * The metrics endpoint of the health server, or `false` for none. @default {accessible to all
   * clients that reach the port}
   */
  readonly metrics?: MetricsOptions | false;
  /** Sandbox permissions that all parts share, in addition to the API server. @default {none} */
  readonly sandbox?: SandboxPermissions;
  /**
   * The webhook server, if there are webhooks. @default {port 9443 on all addresses, with a
   * certificate that the operator issues}
   */
  readonly webhooks?: WebhookServerOptions;
  /** How long running reconciles may take to finish when the operator stops. @default {"25s"} */
  readonly gracefulShutdownTimeout?: Duration;
  /**
   * Whether only one process of the operator reconciles at a time, elected by a Lease, while the
   * others stand by. @default {`true` for a program in a pod, otherwise `false`}
   */
  readonly leaderElection?: boolean | LeaderElectionOptions;
}

/**
 * Creates an operator from parts.
 *
 * @param options Name, parts and settings.
 * @returns The operator. It does not run yet.
 * @throws {TypeError} If a name or the parts are missing or invalid, one part has two keys, two
 *   parts would store the same name in a cluster, two different kinds have one name, or conversions
 *   do not connect all versions of a kind.
 * @throws {RangeError} If two processes could lead at once with the durations of `leaderElection`.
 *
 * @example Usage
 * ```ts
 * import { controller, operator } from "@op/sdk";
 * import { Namespace } from "@op/sdk/kinds";
 *
 * const namespaces = controller(Namespace, { reconcile(namespace, { log }) {
 *   log.info("Namespace seen", { phase: namespace.status?.phase });
 * } });
 * const op = operator({ name: "namespace-operator", parts: { namespaces } });
 * ```
 */
export function operator<Services = unknown>(
  // A part that uses services requires them.
  options:
    & OperatorOptions<Services>
    & (unknown extends Services ? unknown : Required<Pick<OperatorOptions<Services>, "services">>),
): Operator {
  checkOperator(options);
  const { name, parts, version = "0.0.0", health = {}, metrics = {}, sandbox = {}, gracefulShutdownTimeout = "25s" } =
    options;
  const hasControllers = needsRunner(compile(parts), "controllerLoop");
  return assemble({
    name,
    version,
    parts,
    health: health === false ? undefined : { port: 8081, hostname: "0.0.0.0", ...health },
    metrics: metrics === false || health === false ? undefined : { authorization: false, ...metrics },
    ownSandbox: sandbox,
    gracefulShutdownTimeout: milliseconds(gracefulShutdownTimeout),
    webhooks: webhookServing(options.webhooks),
    // An operator that only has webhooks needs no leader.
    leaderElection: leaderElectionOf(name, hasControllers ? options.leaderElection : false),
    services: options.services && ((context) => options.services!(context)),
    config: undefined,
  });
}

/** Returns the operator with its functions. */
function assemble(data: OperatorData): OperatorDefinition {
  const { parts, health, metrics, leaderElection: { when, id, namespace }, config } = data;
  const isElected = when !== "never";
  const units = compile(parts);
  const hasControllers = needsRunner(units, "controllerLoop");
  const hasWebhooks = needsRunner(units, "webhookServer");
  const issuesCertificate = hasWebhooks && data.webhooks.certificate === undefined;
  const certificates = issuesCertificate ? certificateWrites(data) : undefined;
  /** Returns all RBAC permissions that it may need, for any source of its certificate. */
  const allRules = () =>
    rbacRulesOf(parts, {
      lease: isElected ? { name: id, namespace } : undefined,
      events: hasControllers,
      certificates: certificates && { operator: data.name, ...certificates },
      authorizesMetrics: metrics?.authorization ?? false,
    });
  const value: OperatorDefinition = {
    ...data,
    units,
    facts: () => factsOf(parts),
    withSettings: (text, path = "operator.toml") => {
      const config = readConfigFile(text, path);
      return assemble({ ...configured(data, config.settings), config });
    },
    configured: (settings) => assemble(configured(data, settings)),
    crds: () => definitionsOf(parts),
    sandbox: () =>
      sandboxRulesOf(parts, {
        health,
        webhooks: hasWebhooks ? { ...data.webhooks, inner: innerPorts(data.webhooks) } : undefined,
        apiserverPort: config?.apiserverPort,
        isElected,
        variables: variablesOf(hasWebhooks),
        sandbox: data.ownSandbox,
      }),
    rbac: () => (config?.certificates ?? "self") === "self" ? allRules() : withoutCertificates(allRules()),
    manifests: (options) =>
      manifestsOf({
        ...data,
        isElected: isElected || !hasControllers,
        metrics: health && metrics && { port: health.port, authorization: metrics.authorization },
        crds: value.crds(),
        rbac: allRules(), // manifestsOf() omits the rules that its options make unnecessary
        settings: config?.operatorText ?? "",
        webhooks: hasWebhooks ? { port: data.webhooks.port } : undefined,
        certificates,
      }, installOptions(config, options)),
    samples: () => samplesOf(parts),
    start: (options) => startOperator(value, { serveWebhooks: true, connection: () => connect(), ...options }),
    run: async (options) => await value.start(options).ended,
    main: (args = Deno.args) => main(value, args),
  };
  return value;
}

/**
 * Returns the objects that the operator writes if it issues its webhook certificate itself.
 */
function certificateWrites(data: OperatorData): CertificateWrites {
  return { secret: certificateSecret(data.name), targets: publishTargets(data) };
}

/** Options of the call override those of the file. */
function installOptions(config: ConfigFile | undefined, options: InstallOptions = {}): InstallOptions {
  if (config === undefined) return options;
  const { namespaces: watchNamespaces } = runtimeScope(config.settings);
  return {
    ...(config.id === undefined ? {} : { id: config.id }),
    ...(config.namespace === undefined ? {} : { namespace: config.namespace }),
    ...(watchNamespaces === undefined ? {} : { watchNamespaces }),
    ...(config.certificates === undefined ? {} : { certificates: config.certificates }),
    imageParts: config.image,
    ...options,
    policies: [...config.policies, ...options.policies ?? []],
  };
}
