/** The sandbox permissions of an operator: those that its declarations need, and no others. */
import { API_HOST, API_PORT, CONFIG_FOLDER, MEMORY_LIMIT, SERVICE_ACCOUNT, WEBHOOK_FOLDER } from "../base/pod.ts";
import { type Parts, partTypeOf } from "../parts/part_types.ts";
import { SANDBOX_PERMISSION_NAMES, type SandboxPermissionName, type SandboxPermissions } from "../parts/sandbox.ts";

/** A sandbox permission and its reason. */
export interface SandboxRule {
  /** The kind of permission, named as in Deno's flag: `net` for `--allow-net`. */
  readonly permission: SandboxPermissionName;
  /**
   * A host with or without a port, a path, a variable, a program, a library, or a kind of system
   * information.
   */
  readonly target: string;
  /** The reason, as a clause without a subject: `serves health`. */
  readonly reason: string;
}

/** Options of {@linkcode sandboxRulesOf}, in addition to the parts. */
export interface SandboxOptions {
  /** Where health is served, or `undefined` if it is not. */
  readonly health: { readonly hostname: string; readonly port: number } | undefined;
  /**
   * Where webhooks are served, and the loopback ports that their server uses; `undefined` if there
   * are none.
   */
  readonly webhooks?:
    | { readonly hostname: string; readonly port: number; readonly inner: readonly number[] }
    | undefined;
  /** The port of the Service `kubernetes`. @default {443} */
  readonly apiserverPort?: number | undefined;
  /** Whether it may take part in a leader election. @default {false} */
  readonly isElected?: boolean;
  /** Environment variables that the program reads. @default {[]} */
  readonly variables?: readonly string[];
  /** The permissions that the operator declares itself. @default {none} */
  readonly sandbox?: SandboxPermissions;
}

const VARIABLES: readonly [string, string][] = [
  ["KUBERNETES_SERVICE_PORT", "reads the port of the API server"],
  ["KUBERNETES_SERVICE_PORT_HTTPS", "reads the port of the API server"],
];

/**
 * Variables with paths of files. An executable that may only read the mounted files does not need
 * them.
 */
const KUBECONFIG_VARIABLES: readonly [string, string][] = [
  ["KUBECONFIG", "reads which kubeconfig to use outside a pod"],
  ["HOME", "finds the default kubeconfig outside a pod"],
];

/**
 * Returns the sandbox permissions of an operator.
 *
 * @param parts The operator's parts, by key.
 * @param options The servers, variables and permissions of the operator itself.
 * @returns Each permission once, in a stable order.
 */
export function sandboxRulesOf(parts: Parts, options: SandboxOptions): SandboxRule[] {
  const { health, webhooks, apiserverPort = API_PORT, isElected = false, variables = [], sandbox = {} } = options;
  const all = [
    ...declared("the operator", sandbox),
    ...Object.entries(parts).flatMap(([key, part]) =>
      declared(`${part.part} "${key}"`, partTypeOf(part).sandbox(part))
    ),
  ];
  const mayReadFiles = all.some(({ permission }) => permission === "read");
  return unique([
    { permission: "net", target: `${API_HOST}:${apiserverPort}`, reason: "connects to the API server" },
    ...(health === undefined
      ? []
      : [{ permission: "net", target: `${health.hostname}:${health.port}`, reason: "serves health" } as const]),
    ...(webhooks === undefined ? [] : webhookRules(webhooks)),
    { permission: "read", target: SERVICE_ACCOUNT, reason: "reads the service account's token and CA" },
    { permission: "read", target: CONFIG_FOLDER, reason: "reads settings from the mounted ConfigMap" },
    ...variables.map((target) => ({ permission: "env", target, reason: "reads a setting" }) as const),
    ...[...VARIABLES, ...(mayReadFiles ? KUBECONFIG_VARIABLES : [])].map(([target, reason]) =>
      ({ permission: "env", target, reason }) as const
    ),
    ...(isElected
      ? [{ permission: "env", target: "HOSTNAME", reason: "reads the pod's name for the leader election" } as const]
      : []),
    ...all,
  ]);
}

function webhookRules(
  { hostname, port, inner }: NonNullable<SandboxOptions["webhooks"]>,
): SandboxRule[] {
  return [
    { permission: "net", target: `${hostname}:${port}`, reason: "serves webhooks" },
    ...inner.map((port) =>
      ({
        permission: "net",
        target: `127.0.0.1:${port}`,
        reason: "serves webhooks with one certificate behind their port",
      }) as const
    ),
    { permission: "read", target: WEBHOOK_FOLDER, reason: "reads the webhook certificate, if one is mounted" },
    { permission: "env", target: MEMORY_LIMIT, reason: "reads the memory limit, which limits concurrent reviews" },
  ];
}

/**
 * Returns permissions as flags of `deno run` and `deno compile`.
 *
 * @param permissions The permissions.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const rule: SandboxRule = { permission: "net", target: "a.example:443", reason: "the API" };
 * assert.deepEqual(sandboxFlags([rule]), [
 *   "--no-prompt",
 *   "--deny-import",
 *   "--allow-net=a.example:443",
 * ]);
 * ```
 */
export function sandboxFlags(permissions: readonly SandboxRule[]): string[] {
  const flags = SANDBOX_PERMISSION_NAMES.flatMap((access) => {
    const targets = permissions.filter(({ permission }) => permission === access).map(({ target }) => target);
    return targets.length === 0 ? [] : [`--allow-${access}=${targets.join(",")}`];
  });
  // Without a prompt, an undeclared access is an error. By default, Deno allows importing code from
  // six hosts.
  return ["--no-prompt", "--deny-import", ...flags];
}

function declared(source: string, permissions: SandboxPermissions): SandboxRule[] {
  return SANDBOX_PERMISSION_NAMES.flatMap((access) =>
    (permissions[access] ?? []).map((target) => ({
      permission: access,
      target: validTarget(access, target, source),
      reason: `declared by ${source}`,
    }))
  );
}

/** The format of a target by kind of permission. */
const FORMATS: Readonly<Record<SandboxPermissionName, string>> = {
  net: 'a host such as "api.example.com" or "api.example.com:8443"',
  read: "the path of a file or folder, without a comma",
  write: "the path of a file or folder, without a comma",
  env: "the name of one variable",
  run: 'a program such as "/usr/bin/git"',
  ffi: "the path of a library, without a comma",
  sys:
    'the kind of information, such as "hostname", "osRelease", "osUptime", "loadavg", "networkInterfaces", "systemMemoryInfo", "uid", "gid" or "cpus"',
};

/**
 * Targets are joined by commas, so they must not contain any. An empty target, a star or the root
 * would allow everything.
 */
function validTarget(access: SandboxPermissionName, target: string, source: string): string {
  const isWord = access === "net" || access === "env" || access === "sys";
  if (target.trim() === "" || target === "/" || target.includes(",") || (isWord ? /[*/]/ : /^\*$/).test(target)) {
    throw new TypeError(`Sandbox of ${source}: "${target}" in "${access}" is invalid. Write ${FORMATS[access]}.`);
  }
  return target;
}

function unique(permissions: readonly SandboxRule[]): SandboxRule[] {
  const seen = new Map<string, SandboxRule>();
  for (const permission of permissions) {
    const key = `${permission.permission} ${permission.target}`;
    if (!seen.has(key)) seen.set(key, permission);
  }
  return [...seen.values()];
}
