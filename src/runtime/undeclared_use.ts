/** What the sandbox refused, as the declaration that would allow it. */
import { SANDBOX_PERMISSION_NAMES, type SandboxPermissionName } from "../parts/sandbox.ts";

/**
 * The declaration that an error asks for, if the sandbox threw it. Deno's message reads `Requires
 * net access to "example.com:443", run again with …`.
 *
 * @param error What was thrown; its causes are looked at, too.
 * @param where Who would declare it: `controller "websites"`, `the operator`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const error = new Deno.errors.NotCapable('Requires sys access to "hostname", run again with the --allow-sys flag');
 * assert.match(undeclaredUse(error, "the operator") ?? "", /add sandbox: { sys: \["hostname"\] } to the operator/);
 * ```
 */
export function undeclaredUse(error: unknown, where: string): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // It says so itself, and what else would help.
    if (cause.message.includes("sandbox: {")) return undefined;
    const { code, syscall, hostname } = cause as NodeError;
    // Node's libraries get errors of Node's own; no other cause gives this one.
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
 * What else a refused connection may mean: by an address, Node's libraries on Deno 2.4 tell what
 * the sandbox refused as a server that refuses.
 *
 * @param error What was thrown.
 * @param where Who would declare it.
 * @param isAllowed Whether the sandbox lets the program connect there.
 */
export function perhapsUndeclared(error: unknown, where: string, isAllowed = mayConnect): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall, address, port } = cause as NodeError;
    if (code !== "ECONNREFUSED" || syscall !== "connect" || address === undefined || port === undefined) continue;
    const host = `${address.includes(":") ? `[${address}]` : address}:${port}`;
    if (isAllowed(host)) return undefined;
    return `${cause.message}: nobody listens there, or net "${host}" is not declared: ${
      wayOut("net", JSON.stringify(host), where)
    }`;
  }
  return undefined;
}

/** What Node's libraries add to an error of a connection. */
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

/** What to write where all of a class was asked for, or what cannot be named. */
const WHOLE: { readonly [access in SandboxPermissionName]?: string } = {
  env: '"NAME", ...',
  ffi: '"/path/of/library.so"',
  net: '"host"',
};

/** A temporary folder is wherever the machine says. */
const FOLDER = '"/tmp"';

function isClass(access: string): access is SandboxPermissionName {
  return SANDBOX_PERMISSION_NAMES.some((each) => each === access);
}
