/** Finds the sandbox setting that would have allowed a denied operation. */
import { SANDBOX_PERMISSION_NAMES, type SandboxPermissionName } from "../parts/sandbox.ts";

/**
 * Returns advice on the sandbox setting that is missing, if the sandbox threw an error.
 *
 * Source: Deno's message, `Requires net access to "example.com:443", run again with …`.
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
 * const advice = undeclaredUse(error, "the operator") ?? "";
 * assert.match(advice, /add sandbox: { sys: \["hostname"\] } to the operator/);
 * ```
 */
export function undeclaredUse(error: unknown, where: string): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // The error already contains the advice.
    if (cause.message.includes("sandbox: {")) return undefined;
    const { code, syscall, hostname } = cause as NodeError;
    // Node's libraries throw errors of their own; this code has no other cause.
    if (code === "EPERM" && syscall === "getaddrinfo" && hostname !== undefined) {
      return undeclared("net", hostname, where);
    }
    const [, access, quoted, named] = /^Requires (\w+) access(?: to (?:"([^"]*)"|(<\w+>)))?/.exec(cause.message) ?? [];
    if (access === undefined || !(cause instanceof Deno.errors.NotCapable || access === "import")) continue;
    const target = access === "net" ? quoted?.replace(/:(443|80)$/, "") : quoted ?? named;
    const use = `Cannot use ${access}${target === undefined ? "" : ` "${target}"`}`;
    if (access === "import") {
      return `${use}: code from elsewhere is never loaded while an operator runs: import it at the top of a file, and build again`;
    }
    if (!isClass(access)) return `${use}: no declaration allows it`;
    const wish = target === undefined ? WHOLE[access] ?? "..." : named === undefined ? JSON.stringify(target) : FOLDER;
    return `${use}: it is not declared: ${wayOut(access, wish, where)}`;
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
export function perhapsUndeclared(error: unknown, where: string, isAllowed = mayConnect): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall, address, port } = cause as NodeError;
    if (code !== "ECONNREFUSED" || syscall !== "connect" || address === undefined || port === undefined) continue;
    const host = `${address.includes(":") ? `[${address}]` : address}:${port}`;
    if (isAllowed(host)) return undefined;
    return `${cause.message}: no process listens there, or net "${host}" is not declared: ${
      wayOut("net", JSON.stringify(host), where)
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

function undeclared(access: SandboxPermissionName, target: string, where: string): string {
  return `Cannot use ${access} "${target}": it is not declared: ${wayOut(access, JSON.stringify(target), where)}`;
}

function wayOut(access: SandboxPermissionName, wish: string, where: string): string {
  return `add sandbox: { ${access}: [${wish}] } to ${where} and build again`;
}

/** The setting for an operation without a name. */
const WHOLE: { readonly [access in SandboxPermissionName]?: string } = {
  env: '"NAME", ...',
  ffi: '"/path/of/library.so"',
  net: '"host"',
};

/** The path of a temporary folder depends on the machine. */
const FOLDER = '"/tmp"';

function isClass(access: string): access is SandboxPermissionName {
  return SANDBOX_PERMISSION_NAMES.some((each) => each === access);
}
