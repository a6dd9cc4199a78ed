/**
 * Classifies errors of Deno and V8 that have neither a class nor a code of their own. This is the
 * only module of the SDK that reads the messages of such errors. Its tests provoke the errors, so
 * that they fail if Deno changes a message.
 */

/** The reason why a connection failed. */
export type ConnectionFailure =
  | "ConnectionRefused"
  | "UntrustedCertificate"
  | "InvalidCertificate"
  | "NetworkUnreachable"
  | "NameNotFound"
  | "NotTls"
  | "ConnectionClosed";

/** An operation that the sandbox denied. */
export interface SandboxDenial {
  /**
   * The permission, such as `net`. It may be one that an operator cannot declare, such as `all`.
   */
  readonly permission: string;
  /**
   * The host, file, variable or program, such as `example.com:443`; `undefined` if the operation
   * has none, such as the list of all variables.
   */
  readonly target?: string;
  /** Whether the target is a folder that Deno does not name, such as `<TMP>`. */
  readonly isUnnamedFolder: boolean;
}

const PATTERNS: readonly (readonly [code: ConnectionFailure, pattern: RegExp])[] = [
  ["ConnectionRefused", /connection refused/i],
  ["UntrustedCertificate", /UnknownIssuer/],
  ["InvalidCertificate", /invalid peer certificate/],
  ["NetworkUnreachable", /network is unreachable|no route to host/i],
  ["NameNotFound", /dns error|failed to lookup/i],
  // The server sent something other than a TLS record.
  ["NotTls", /corrupt message/],
  ["ConnectionClosed", /closed|reset|EOF/i],
];

/**
 * Returns the innermost cause of an error, which has the reason if `fetch` fails.
 *
 * @param error The thrown value.
 * @param isFound Ends the search early at a cause. @default {the last error of the chain}
 */
export function innermostCause(error: unknown, isFound: (error: unknown) => boolean = () => false): unknown {
  let inner = error;
  while (!isFound(inner) && inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner;
}

/**
 * Returns why a connection failed.
 *
 * @param error The error of `fetch`, `Deno.connect` or a TLS handshake.
 * @returns The reason; `undefined` if the error has another reason.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const error = await Deno.connect({ hostname: "127.0.0.1", port: 1 }).catch((error) => error);
 * assert.equal(connectionFailure(error), "ConnectionRefused");
 * ```
 */
export function connectionFailure(error: unknown): ConnectionFailure | undefined {
  const inner = innermostCause(error);
  const message = inner instanceof Error ? inner.message : String(inner);
  return PATTERNS.find(([, pattern]) => pattern.test(message))?.[0];
}

/**
 * Returns whether the error means that a request, or reading its response, failed because of the
 * network. Deno throws a `TypeError` in this case, the same class as for invalid arguments.
 *
 * @param error The thrown value.
 */
export function isFetchFailure(error: unknown): boolean {
  return error instanceof TypeError &&
    /^(?:fetch failed$|error sending request\b|error (?:reading|writing) a body\b)/.test(error.message);
}

/**
 * Returns the operation that the sandbox denied. Only the error message names it: `Requires net
 * access to "example.com:443", run again with the --allow-net flag`.
 *
 * @param error The thrown value, without its causes.
 * @returns The operation; `undefined` if the sandbox did not throw the error.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const error = new Deno.errors.NotCapable('Requires env access to "TOKEN", run again');
 * const { permission, target } = sandboxDenial(error) ?? {};
 * assert.deepEqual([permission, target], ["env", "TOKEN"]);
 * ```
 */
export function sandboxDenial(error: unknown): SandboxDenial | undefined {
  if (!(error instanceof Error)) return undefined;
  const [, permission, quoted, unnamed] = /^Requires (\w+) access(?: to (?:"([^"]*)"|(<\w+>)))?/.exec(error.message) ??
    [];
  // The module loader throws a TypeError.
  if (permission === undefined || !(error instanceof Deno.errors.NotCapable || permission === "import")) {
    return undefined;
  }
  const target = quoted ?? unnamed;
  return { permission, ...(target === undefined ? {} : { target }), isUnnamedFolder: unnamed !== undefined };
}

/**
 * Returns whether V8 threw the error because the call stack was exhausted.
 *
 * @param error The thrown value.
 */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === "Maximum call stack size exceeded";
}
