/** A certificate for a server on this machine. */
import type { ServerCertificate } from "../apiserver/serve.ts";
import { createAuthority } from "./_certificates.ts";

/**
 * Makes a certificate for a server on this machine, signed by an authority of its own that nobody else knows. It is good for two days.
 *
 * @param names The names and addresses that the server is known by.
 * @returns The certificate, its key, and the authority's certificate for those who are to trust it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { createApiserver, kubeconfigFor, localCertificate, serveApiserver } from "@op/sdk/testing";
 *
 * const certificate = await localCertificate();
 * await using apiserver = createApiserver();
 * await using served = serveApiserver(apiserver, { certificate });
 * assert.match(served.url, /^https:/);
 * assert.match(kubeconfigFor(served.url, certificate), /certificate-authority-data/);
 * ```
 */
export async function localCertificate(
  names: readonly string[] = ["127.0.0.1", "localhost"],
): Promise<ServerCertificate> {
  const authority = await createAuthority();
  return { ...await authority.server(names), caCert: authority.certificate };
}
