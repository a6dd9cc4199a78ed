/** Finds the sandbox setting that would have allowed a denied operation. */
import { sandboxDenial } from "../base/deno_errors.ts";
import { ClusterConfigError } from "../kube/cluster_config_error.ts";
import { CredentialError } from "../kube/http.ts";
import { SANDBOX_PERMISSION_NAMES, type SandboxPermissionName } from "../parts/sandbox.ts";

/**
 * Returns advice on the sandbox setting that is missing, if the sandbox threw an error.
 *
 * @param error The thrown value. Its causes are examined too.
 * @param where Where to add the setting: `controller "websites"`, `the operator`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const message = 'Requires sys access to "hostname", run again with the --allow-sys flag';
 * const error = new Deno.errors.NotCapable(message);
 * const advice = sandboxAdvice(error, "the operator") ?? "";
 * assert.match(advice, /Add sandbox: { sys: \["hostname"\] } to the operator/);
 * ```
 */
export function sandboxAdvice(error: unknown, where: string): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // The messages of these errors already have advice.
    if (cause instanceof CredentialError || cause instanceof ClusterConfigError) return undefined;
    const { code, syscall, hostname } = cause as NodeError;
    // Node's libraries throw their own error when the sandbox denies a lookup. The code has no
    // other cause.
    if (code === "EPERM" && syscall === "getaddrinfo" && hostname !== undefined) {
      return undeclaredAdvice("net", hostname, where);
    }
    const denial = sandboxDenial(cause);
    if (denial === undefined) continue;
    const { permission } = denial;
    const target = permission === "net" ? denial.target?.replace(/:(443|80)$/, "") : denial.target;
    const use = `Cannot use ${permission}${target === undefined ? "" : ` "${target}"`}`;
    if (permission === "import") {
      return `${use}: executables do not load modules at run time. Import it at the top of a file and build again`;
    }
    if (!isSandboxPermission(permission)) return `${use}: no declaration allows it`;
    const value = target === undefined
      ? EXAMPLE_VALUES[permission] ?? "..."
      : denial.isUnnamedFolder
      ? TEMPORARY_FOLDER
      : JSON.stringify(target);
    return `${use}: it is not declared. ${fixFor(permission, value, where)}`;
  }
  return undefined;
}

/**
 * Returns the sandbox setting that may be missing for a refused connection. On Deno 2.4, Node's
 * libraries report a connection to an address that the sandbox denied as refused by the server.
 *
 * @param error The thrown value.
 * @param where Where to add the setting.
 * @param isAllowed Whether the sandbox allows connections to an address.
 */
export function refusedConnectionAdvice(error: unknown, where: string, isAllowed = mayConnect): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall, address, port } = cause as NodeError;
    if (code !== "ECONNREFUSED" || syscall !== "connect" || address === undefined || port === undefined) continue;
    const host = `${address.includes(":") ? `[${address}]` : address}:${port}`;
    if (isAllowed(host)) return undefined;
    return `${cause.message}: no process listens there, or net "${host}" is not declared. ${
      fixFor("net", JSON.stringify(host), where)
    }`;
  }
  return undefined;
}

/** Fields of connection errors of Node's libraries. */
interface NodeError {
  readonly code?: string;
  readonly syscall?: string;
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
}

function mayConnect(host: string): boolean {
  return Deno.permissions.querySync({ name: "net", host }).state === "granted";
}

function undeclaredAdvice(permission: SandboxPermissionName, target: string, where: string): string {
  return `Cannot use ${permission} "${target}": it is not declared. ${
    fixFor(permission, JSON.stringify(target), where)
  }`;
}

function fixFor(permission: SandboxPermissionName, value: string, where: string): string {
  return `Add sandbox: { ${permission}: [${value}] } to ${where} and build again`;
}

/** Placeholder values for operations that do not have a name, such as reading all variables. */
const EXAMPLE_VALUES: { readonly [permission in SandboxPermissionName]?: string } = {
  env: '"NAME", ...',
  ffi: '"/path/of/library.so"',
  net: '"host"',
};

/** Stands for temporary folders, because their path depends on the machine. */
const TEMPORARY_FOLDER = '"/tmp"';

function isSandboxPermission(permission: string): permission is SandboxPermissionName {
  return SANDBOX_PERMISSION_NAMES.some((each) => each === permission);
}
