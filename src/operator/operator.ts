/** Creates operators from parts. */
import type { Part } from "../parts/controller.ts";
import { controllersOf, conversionsOf, needsWebhookServer } from "../parts/part_list.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { webhookPath } from "../parts/webhook_entries.ts";
import { crdsOf, externalCrdsOf } from "../manifests/crds.ts";
import type { CertificateWrites } from "../manifests/certificate_policy.ts";
import type { InstallOptions } from "../manifests/install.ts";
import { manifestsOf, samplesOf } from "../manifests/manifests.ts";
import { rbacRulesOf, withoutCertificates } from "../manifests/rbac.ts";
import { sandboxRulesOf } from "../manifests/sandbox.ts";
import type { SandboxPermissions } from "../parts/sandbox.ts";
import { fieldManager, finalizerName } from "../runtime/names.ts";
import type { Duration } from "../base/duration.ts";
import { milliseconds } from "../base/duration.ts";
import { type ConfigFile, readConfigFile } from "./config_file.ts";
import { configured } from "./configure.ts";
import { leaderElectionOf, type LeaderElectionOptions } from "./leader_election.ts";
import { main } from "./main.ts";
import type { OperatorDefinition } from "./operator_definition.ts";
import type { HealthOptions, MetricsOptions, Operator } from "./operator_value.ts";
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
   * once, before the first reconcile; disposable services are disposed after the last one. A test
   * replaces them: `memoryCluster({ operator, services })`.
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

// Valid as a label value and as the prefix of a qualified name.
const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KEY = /^[A-Za-z]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

/**
 * Creates an operator from parts.
 *
 * @param options Name, parts and settings.
 * @returns The operator. It does not run yet.
 * @throws {TypeError} If a name or the parts are missing or invalid, one part has two keys, two
 *   parts would store the same name in a cluster, or two different kinds have one name.
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
  checkOptions(options);
  const { name, parts, version = "0.0.0", health = {}, metrics = {}, sandbox = {}, gracefulShutdownTimeout = "25s" } =
    options;
  checkNames(name, parts);
  checkUniqueNames(name, parts);
  // Both calls throw if two different kinds have the same name.
  checkConversions(crdsOf(Object.values(parts)), parts);
  externalCrdsOf(Object.values(parts));
  const hasControllers = controllersOf(parts).length > 0;
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

/**
 * Rejects a kind if conversions connect only some of its versions. As soon as the API server calls
 * a conversion webhook for the kind, it cannot read or write objects in the other versions.
 */
function checkConversions(
  definitions: readonly CustomResourceDefinitionManifest[],
  parts: Readonly<Record<string, Part>>,
): void {
  const conversions = conversionsOf(parts).map(([, conversion]) => conversion);
  for (const { metadata, spec } of definitions) {
    const pairs = conversions.filter(({ kind }) => `${kind.plural}.${kind.group}` === metadata.name)
      .map(({ kind, into }) => [kind.version, into.version] as const);
    if (pairs.length === 0) continue;
    const reached = new Set<string>(pairs[0]);
    for (let before = 0; before < reached.size;) {
      before = reached.size;
      for (const pair of pairs) {
        if (pair.some((version) => reached.has(version))) pair.forEach((one) => reached.add(one));
      }
    }
    const unreached = spec.versions.map(({ name }) => name).filter((name) => !reached.has(name));
    if (unreached.length === 0) continue;
    const list = (versions: Iterable<string>) => [...versions].map((version) => `"${version}"`).join(", ");
    throw new TypeError(
      `operator(): no conversion connects version ${list(unreached)} of ${spec.names.kind} (${metadata.name}) to ${
        list(reached)
      }. Add a conversion between them, or remove the version from "versions".`,
    );
  }
}

/** The options of an operator, without its functions. */
type OperatorData = {
  readonly [K in keyof OperatorDefinition as OperatorDefinition[K] extends (...args: never) => unknown ? never : K]:
    OperatorDefinition[K];
};

/** Returns the operator with its functions. */
function assemble(data: OperatorData): OperatorDefinition {
  const { parts, health, metrics, leaderElection: { when, id, namespace }, config } = data;
  const isElected = when !== "never";
  const hasControllers = controllersOf(parts).length > 0;
  const hasWebhooks = needsWebhookServer(parts);
  /** Returns all RBAC permissions that it may need, for any source of its certificate. */
  const allRules = () =>
    rbacRulesOf(parts, {
      lease: isElected ? { name: id, namespace } : undefined,
      events: hasControllers,
      certificates: hasWebhooks && data.webhooks.certificate === undefined
        ? { operator: data.name, ...certificateWrites(data) }
        : undefined,
      authorizesMetrics: metrics?.authorization ?? false,
    });
  const value: OperatorDefinition = {
    ...data,
    withSettings: (text, path = "operator.toml") => {
      const config = readConfigFile(text, path);
      return assemble({ ...configured(value, config.settings), config });
    },
    crds: () => crdsOf(Object.values(parts)),
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
        certificates: hasWebhooks && data.webhooks.certificate === undefined ? certificateWrites(data) : undefined,
      }, installOptions(config, options)),
    samples: () =>
      samplesOf(
        Object.values(parts).flatMap((part) =>
          part.part === "controller"
            ? [part.kind, ...part.owns]
            : part.part === "conversion"
            ? [part.into]
            : [part.kind]
        ),
      ),
    run: async (options) => {
      await using running = startOperator(value, { serveWebhooks: true, ...options });
      await running.ended;
    },
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
  const watchNamespaces = config.settings.get("all_namespaces")?.value === true
    ? undefined
    : config.settings.get("namespaces")?.value as readonly string[] | undefined;
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

/** Rejects invalid options. Programs that are not type-checked can pass any value. */
function checkOptions(options: unknown): void {
  const { name, parts } = Object(options) as Record<string, unknown>;
  const example = 'Write operator({ name: "shop", parts: { websites } }).';
  if (typeof name !== "string") {
    throw new TypeError(`operator(): "name" is required and must be a string, got ${describe(name)}. ${example}`);
  }
  if (Object.prototype.toString.call(parts) !== "[object Object]") {
    throw new TypeError(
      `Operator "${name}": "parts" is required and must be an object with a key for each part, got ${
        describe(parts)
      }. ${example}`,
    );
  }
  for (const [key, part] of Object.entries(parts as object)) {
    if (typeof part?.part === "string") continue;
    throw new TypeError(
      `Operator "${name}": part "${key}" must be the result of controller(), webhook() or conversion(), got ${
        describe(part)
      }.`,
    );
  }
}

/** Describes a value in one or two words. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return `"${value}"`;
  return typeof value === "function" ? "a function" : String(Object(value) === value ? "an object" : value);
}

function checkNames(name: string, parts: Readonly<Record<string, Part>>): void {
  if (!NAME.test(name)) {
    throw new TypeError(
      `Operator "${name}": the name is not a DNS label. Use at most 63 lowercase letters, digits and dashes, starting with a letter.`,
    );
  }
  for (const key of Object.keys(parts)) {
    if (!KEY.test(key)) {
      throw new TypeError(
        `Operator "${name}": the key "${key}" of a part is invalid. Use letters, digits, "-", "_" and ".", starting with a letter and ending with a letter or digit.`,
      );
    }
  }
}

function checkUniqueNames(name: string, parts: Readonly<Record<string, Part>>): void {
  const keys = new Map<unknown, string>();
  for (const [key, part] of Object.entries(parts)) {
    claim(
      keys,
      part,
      key,
      (other) => `one part has the keys "${other}" and "${key}". Remove one, or create a second part.`,
    );
    if (part.part === "webhook") {
      const path = webhookPath("validate", key);
      claim(
        keys,
        `path ${path}`,
        key,
        (other) => `webhooks "${other}" and "${key}" would both be served at "${path}". Rename one.`,
      );
    }
    if (part.part !== "controller") continue;
    const manager = fieldManager(name, key);
    claim(
      keys,
      `manager ${manager}`,
      key,
      (other) => `parts "${other}" and "${key}" would both have the field manager "${manager}". Rename one.`,
    );
    if (part.cleanup === undefined) continue;
    const finalizer = finalizerName(name, key, part);
    claim(
      keys,
      `${part.kind.group}/${part.kind.kind} ${finalizer}`,
      key,
      (other) =>
        `parts "${other}" and "${key}" would both add the finalizer "${finalizer}" to ${part.kind.kind}. Rename one, or set its option "finalizer".`,
    );
  }

  function claim(
    owners: Map<unknown, string>,
    id: unknown,
    key: string,
    describeConflict: (other: string) => string,
  ): void {
    const other = owners.get(id);
    if (other !== undefined) throw new TypeError(`Operator "${name}": ${describeConflict(other)}`);
    owners.set(id, key);
  }
}
