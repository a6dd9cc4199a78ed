/**
 * The settings of an operator's program. Flags, environment variables, the keys of the file and the
 * help are derived from this list.
 */
import { HTTP_CLIENTS } from "../kube/connect.ts";
import { CERTIFICATE_SOURCES } from "../manifests/install.ts";
import { LOG_LEVELS } from "./log.ts";

/**
 * The type of a setting's value: `affix` is a string that may be empty, `namespaces` a list of
 * namespace names, `selector` a label selector, `rules` a list of RBAC rules.
 */
export type SettingType =
  | "text"
  | "list"
  | "namespaces"
  | "selector"
  | "boolean"
  | "number"
  | "duration"
  | "affix"
  | "rules";

/** A setting. */
export interface Setting {
  /**
   * The key in the file, with dots between tables. Keys of {@linkcode SETTINGS} are relative to the
   * table `[operator]`.
   */
  readonly key: string;
  readonly type: SettingType;
  readonly help: string;
  /** The flag without dashes. A boolean flag has a counterpart with `no-`. */
  readonly flag?: string;
  readonly short?: string;
  readonly choices?: readonly string[];
  /** Whether only the file may set it, not a variable or a flag. */
  readonly isFileOnly?: boolean;
  /** Whether only operators with webhooks have it. Other operators do not read its variable. */
  readonly isForWebhooks?: boolean;
}

/** The settings, in the order of the help. */
export const SETTINGS: readonly Setting[] = [
  {
    key: "namespaces",
    type: "namespaces",
    flag: "namespace",
    short: "n",
    help: "watch only this namespace; with manifests and rbac, limit the roles to it; may be repeated",
  },
  { key: "all_namespaces", type: "boolean", flag: "all-namespaces", short: "A", help: "watch all namespaces" },
  {
    key: "selector",
    type: "selector",
    flag: "selector",
    help: "reconcile only objects with these labels, such as app=web",
  },
  { key: "log_level", type: "text", flag: "log-level", short: "l", choices: LOG_LEVELS, help: LOG_LEVELS.join(", ") },
  {
    key: "log_format",
    type: "text",
    flag: "log-format",
    choices: ["json", "text"],
    help: "json, text (default: text on a terminal, otherwise json)",
  },
  { key: "paused", type: "boolean", flag: "paused", help: "start no reconciles" },
  {
    key: "graceful_shutdown_timeout",
    type: "duration",
    flag: "graceful-shutdown-timeout",
    help: "how long running reconciles may take to finish when the operator stops",
  },
  {
    key: "kube_api.qps",
    type: "number",
    flag: "kube-api-qps",
    help: "limit of requests per second to the API server, except for Leases and access reviews (default: none)",
  },
  {
    key: "kube_api.burst",
    type: "number",
    flag: "kube-api-burst",
    help: "number of requests that may be sent at once after a pause (default: twice --kube-api-qps)",
  },
  {
    key: "http_client",
    type: "text",
    flag: "http-client",
    choices: HTTP_CLIENTS,
    help:
      "HTTP client for requests to the API server from a pod: http2 (default, faster), or fetch (Deno's built-in client)",
  },
  { key: "health.port", type: "number", flag: "health-port", help: "port of the health and metrics server" },
  { key: "health.hostname", type: "text", flag: "health-hostname", help: "address of the health and metrics server" },
  {
    key: "leader_election.enabled",
    type: "boolean",
    flag: "leader-election",
    help: "reconcile only while this process is the leader (default: the leaderElection option in the code)",
  },
  {
    key: "leader_election.take_over",
    type: "boolean",
    flag: "take-over",
    help: "ask a leader of lower priority to stop reconciling until this process ends",
  },
  {
    key: "leader_election.priority",
    type: "number",
    flag: "priority",
    help: "priority of this process as a leader (default: 100 with --take-over, otherwise 0)",
  },
  { key: "leader_election.id", type: "text", help: "name of the Lease" },
  { key: "leader_election.namespace", type: "text", flag: "leader-election-namespace", help: "namespace of the Lease" },
  {
    key: "leader_election.lease_duration",
    type: "duration",
    help: "how long other processes wait for a leader that does not renew the Lease",
  },
  {
    key: "leader_election.renew_deadline",
    type: "duration",
    help: "how long a leader that cannot renew the Lease continues",
  },
  { key: "leader_election.retry_period", type: "duration", help: "time between two attempts" },
  ...forWebhooks([
    {
      key: "webhooks.port",
      type: "number",
      flag: "webhook-port",
      help: "port of the webhook server, which also uses the next three ports on loopback",
    },
    { key: "webhooks.hostname", type: "text", flag: "webhook-hostname", help: "address of the webhook server" },
    {
      key: "webhooks.cert_sans",
      type: "list",
      flag: "webhook-cert-san",
      help:
        "DNS name or IP address in the webhook certificate, in addition to the names of the Service; may be repeated",
    },
    {
      key: "webhooks.workers",
      type: "number",
      flag: "webhook-workers",
      help: "number of threads that run the functions of webhooks (default: none)",
    },
    {
      key: "webhooks.certificate",
      type: "text",
      flag: "webhook-certificate",
      help: "file with the webhook certificate (default: the operator issues one)",
    },
    { key: "webhooks.key", type: "text", flag: "webhook-key", help: "file with the key of the webhook certificate" },
    {
      key: "skip_webhook_server",
      type: "boolean",
      flag: "skip-webhook-server",
      help: "do not serve webhooks in this process",
    },
    {
      key: "skip_controllers",
      type: "boolean",
      flag: "skip-controllers",
      help: "do not run controllers in this process",
    },
  ]),
  {
    key: "controllers.*.concurrency",
    type: "number",
    isFileOnly: true,
    help: "number of objects that are reconciled at once",
  },
  { key: "controllers.*.timeout", type: "duration", isFileOnly: true, help: "time limit of a reconcile" },
];

/** Settings for builds and generated manifests. The running program ignores them. */
export const PROJECT_SETTINGS: readonly Setting[] = [
  { key: "project.id", type: "text", help: "identifies the operator among others of the same name; never change it" },
  { key: "build.image.registry", type: "text", help: "registry of the image: registry.example.com, docker.io/team" },
  { key: "build.image.repository", type: "text", help: "repository of the image (default: the operator's name)" },
  {
    key: "build.image.tag",
    type: "text",
    help: "tag of the image: a string, $TAG_OR_SHORT_COMMIT_SHA, or $PROJECT_VERSION (default)",
  },
  { key: "build.image.tag_prefix", type: "affix", help: "prefix of the tag" },
  { key: "build.image.tag_suffix", type: "affix", help: "suffix of the tag" },
  { key: "build.builder.binary", type: "text", help: "program that builds images: docker, podman, buildah" },
  { key: "build.builder.args", type: "list", help: "arguments of the program; $IMG is the image" },
  { key: "build.telemetry", type: "boolean", help: "whether the executable sends OpenTelemetry traces" },
  { key: "build.apiserver_port", type: "number", help: "port of the Service kubernetes (default: 443)" },
  { key: "generate.namespace", type: "text", help: "namespace that the operator runs in" },
  {
    key: "generate.webhooks.certificates",
    type: "text",
    choices: CERTIFICATE_SOURCES,
    help: "source of the webhook certificate",
  },
  { key: "generate.rbac.policies", type: "rules", help: "RBAC rules in addition to the generated ones" },
].map((setting): Setting => ({ ...setting, isFileOnly: true } as Setting));

/**
 * Returns the environment variable of a setting: `OP_LOG_LEVEL`, `OP_LEADER_ELECTION`.
 *
 * @param setting The setting.
 */
export function variableOf({ key }: Setting): string {
  return `OP_${key.replace(/\.enabled$/, "").replaceAll(".", "_").toUpperCase()}`;
}

/**
 * Returns the environment variables that a program reads.
 *
 * @param hasWebhooks Whether its operator has webhooks.
 */
export function variablesOf(hasWebhooks: boolean): readonly string[] {
  return ["OP_CONFIG", ...variableSettingsOf(hasWebhooks).map(variableOf)];
}

/**
 * Returns the settings that environment variables may set.
 *
 * @param hasWebhooks Whether the operator has webhooks.
 */
export function variableSettingsOf(hasWebhooks: boolean): readonly Setting[] {
  return SETTINGS.filter(({ isFileOnly, isForWebhooks }) => !isFileOnly && (hasWebhooks || !isForWebhooks));
}

function forWebhooks(settings: readonly Setting[]): Setting[] {
  return settings.map((setting) => ({ ...setting, isForWebhooks: true }));
}
