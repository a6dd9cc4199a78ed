/** What can be said to an operator's program: one list, from which flags, variables, the file's keys and the help are. */
import { HTTP_CLIENTS } from "../kube/connect.ts";
import { CERTIFICATE_SOURCES } from "../manifests/install.ts";
import { LOG_LEVELS } from "./log.ts";

/** What a setting takes; `affix` is a text that may be empty, `namespaces` are a list of them, `selector` is one of labels, `rules` are rules of a role. */
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
  /** Its place in the file's table `[operator]`, parts joined by dots; it is known by it everywhere. */
  readonly key: string;
  readonly type: SettingType;
  readonly help: string;
  /** Without the dashes. A boolean one has a `no-` beside it. */
  readonly flag?: string;
  readonly short?: string;
  readonly choices?: readonly string[];
  /** Whether the file, and no variable and no flag, may say it. */
  readonly isFileOnly?: boolean;
  /** Whether it is for operators with webhooks: others read no variable for it. */
  readonly isOfWebhooks?: boolean;
}

/** The settings, in the order of the help. */
export const SETTINGS: readonly Setting[] = [
  {
    key: "namespaces",
    type: "namespaces",
    flag: "namespace",
    short: "n",
    help: "look at this namespace only, with manifests and rbac: have rights there only; may be repeated",
  },
  { key: "all_namespaces", type: "boolean", flag: "all-namespaces", short: "A", help: "look at all namespaces" },
  {
    key: "selector",
    type: "selector",
    flag: "selector",
    help: "look at objects with these labels only, such as app=web",
  },
  { key: "log_level", type: "text", flag: "log-level", short: "l", choices: LOG_LEVELS, help: LOG_LEVELS.join(", ") },
  {
    key: "log_format",
    type: "text",
    flag: "log-format",
    choices: ["json", "text"],
    help: "json, text; otherwise text on a terminal",
  },
  { key: "paused", type: "boolean", flag: "paused", help: "begin nothing" },
  {
    key: "graceful_shutdown_timeout",
    type: "duration",
    flag: "graceful-shutdown-timeout",
    help: "how long runs may go on when it is to stop",
  },
  {
    key: "kube_api.qps",
    type: "number",
    flag: "kube-api-qps",
    help: "requests per second to the API server, Leases and access reviews excepted; otherwise not limited",
  },
  {
    key: "kube_api.burst",
    type: "number",
    flag: "kube-api-burst",
    help: "requests that may be sent at once after a pause; otherwise twice --kube-api-qps",
  },
  {
    key: "http_client",
    type: "text",
    flag: "http-client",
    choices: HTTP_CLIENTS,
    help: "HTTP client for the API server in a pod: http2, which is the default and faster, or fetch, which is Deno's",
  },
  { key: "health.port", type: "number", flag: "health-port", help: "where health and metrics are served" },
  { key: "health.hostname", type: "text", flag: "health-hostname", help: "the address to serve them at" },
  {
    key: "leader_election.enabled",
    type: "boolean",
    flag: "leader-election",
    help: "work only while leading; otherwise as the code says",
  },
  { key: "leader_election.id", type: "text", help: "the Lease's name" },
  { key: "leader_election.namespace", type: "text", flag: "leader-election-namespace", help: "the Lease's namespace" },
  { key: "leader_election.lease_duration", type: "duration", help: "how long others wait for a leader that is silent" },
  { key: "leader_election.renew_deadline", type: "duration", help: "how long a leader goes on that cannot renew" },
  { key: "leader_election.retry_period", type: "duration", help: "how long it is between two tries" },
  ...ofWebhooks([
    {
      key: "webhooks.port",
      type: "number",
      flag: "webhook-port",
      help: "where webhooks are served; the three ports after it are used on the loopback",
    },
    { key: "webhooks.hostname", type: "text", flag: "webhook-hostname", help: "the address to serve them at" },
    {
      key: "webhooks.names",
      type: "list",
      flag: "webhook-name",
      help: "a name or address by which they are called, besides their Service; may be repeated",
    },
    {
      key: "webhooks.workers",
      type: "number",
      flag: "webhook-workers",
      help: "how many threads run the functions of webhooks; otherwise none does",
    },
    {
      key: "webhooks.certificate",
      type: "text",
      flag: "webhook-certificate",
      help: "a file with their certificate; otherwise the operator makes one",
    },
    { key: "webhooks.key", type: "text", flag: "webhook-key", help: "a file with its key" },
    {
      key: "skip_webhook_server",
      type: "boolean",
      flag: "skip-webhook-server",
      help: "leave the webhooks to other processes",
    },
    {
      key: "skip_controllers",
      type: "boolean",
      flag: "skip-controllers",
      help: "leave the controllers to other processes",
    },
  ]),
  { key: "controllers.*.concurrency", type: "number", isFileOnly: true, help: "how many objects at once" },
  { key: "controllers.*.timeout", type: "duration", isFileOnly: true, help: "how long a run may take" },
];

/** What the file says of building and generating: these are no settings of the running program, which reads past them. */
export const PROJECT_SETTINGS: readonly Setting[] = [
  { key: "project.id", type: "text", help: "identifies the operator among others of the same name; never change it" },
  { key: "build.image.registry", type: "text", help: "where images are: registry.example.com, docker.io/team" },
  { key: "build.image.repository", type: "text", help: "the image's name in it; otherwise the operator's" },
  { key: "build.image.tag", type: "text", help: "otherwise $PROJECT_VERSION; or $TAG_OR_SHORT_COMMIT_SHA; or a text" },
  { key: "build.image.tag_prefix", type: "affix", help: "what stands before the tag" },
  { key: "build.image.tag_suffix", type: "affix", help: "what stands behind the tag" },
  { key: "build.builder.binary", type: "text", help: "the program that makes images: docker, podman, buildah" },
  { key: "build.builder.args", type: "list", help: "its arguments; $IMG is the image" },
  { key: "build.telemetry", type: "boolean", help: "whether the executable sends traces by OpenTelemetry" },
  { key: "build.apiserver_port", type: "number", help: "the port of the Service kubernetes; otherwise 443" },
  { key: "generate.namespace", type: "text", help: "the namespace that the operator runs in" },
  {
    key: "generate.webhooks.certificates",
    type: "text",
    choices: CERTIFICATE_SOURCES,
    help: "where the certificate of its webhooks comes from",
  },
  { key: "generate.rbac.policies", type: "rules", help: "rights beyond the declarations" },
].map((setting): Setting => ({ ...setting, isFileOnly: true } as Setting));

/**
 * The variable of a setting: `OP_LOG_LEVEL`, `OP_LEADER_ELECTION`.
 *
 * @param setting The setting.
 */
export function variableOf({ key }: Setting): string {
  return `OP_${key.replace(/\.enabled$/, "").replaceAll(".", "_").toUpperCase()}`;
}

/**
 * The variables that a program reads.
 *
 * @param hasWebhooks Whether its operator has webhooks.
 */
export function variablesOf(hasWebhooks: boolean): readonly string[] {
  return ["OP_CONFIG", ...variableSettingsOf(hasWebhooks).map(variableOf)];
}

/**
 * The settings that variables may say.
 *
 * @param hasWebhooks Whether the operator has webhooks.
 */
export function variableSettingsOf(hasWebhooks: boolean): readonly Setting[] {
  return SETTINGS.filter(({ isFileOnly, isOfWebhooks }) => !isFileOnly && (hasWebhooks || !isOfWebhooks));
}

function ofWebhooks(settings: readonly Setting[]): Setting[] {
  return settings.map((setting) => ({ ...setting, isOfWebhooks: true }));
}
