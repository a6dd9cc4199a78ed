/**
 * Protects a server on this machine against web pages that reach it by DNS rebinding, under a name
 * of their own.
 */

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * Returns whether a request is addressed to an IP address or to `localhost`. A page that reaches
 * this machine through its own domain sends that as its Host.
 *
 * @param request The request.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { isLocalHost } from "@op/sdk/definitions";
 *
 * assert(isLocalHost(new Request("http://127.0.0.1:8001/")));
 * assert(!isLocalHost(new Request("http://attacker.example:8001/")));
 * ```
 */
export function isLocalHost({ url }: Pick<Request, "url">): boolean {
  const { hostname } = new URL(url);
  return IPV4.test(hostname) || hostname.startsWith("[") || hostname === "localhost" || hostname.endsWith(".localhost");
}
