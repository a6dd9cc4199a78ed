/**
 * Protects a server on this machine against web pages: pages that reach it by DNS rebinding,
 * through their own domain name, and pages that send it requests from another origin.
 */

const IPV4 = /^\d+\.\d+\.\d+\.\d+$/;

/**
 * Returns whether a request is addressed to an IP address or to `localhost`. A page that
 * reaches this machine by DNS rebinding sends its own domain as the Host.
 *
 * @param request The request.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(isLocalHost(new Request("http://127.0.0.1:8001/")));
 * assert(!isLocalHost(new Request("http://attacker.example:8001/")));
 * ```
 */
export function isLocalHost({ url }: Pick<Request, "url">): boolean {
  // Deno copies a Host that is not a host name into the URL.
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return IPV4.test(hostname) || hostname.startsWith("[") || hostname === "localhost" || hostname.endsWith(".localhost");
}

/**
 * Returns whether a web page of another origin sent a request. Browsers add `Origin` to all such
 * requests except a plain GET, whose response the page cannot read.
 *
 * Without this check, any page could write to a server that requires no token: a POST without a
 * content type needs no CORS preflight, and the API server reads it as JSON.
 *
 * @param request The request.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const headers = { origin: "https://attacker.example" };
 * assert(isCrossOrigin(new Request("http://127.0.0.1:8001/", { headers })));
 * assert(!isCrossOrigin(new Request("http://127.0.0.1:8001/")));
 * ```
 */
export function isCrossOrigin({ url, headers }: Pick<Request, "url" | "headers">): boolean {
  const origin = headers.get("origin");
  return origin !== null && origin !== new URL(url).origin;
}
