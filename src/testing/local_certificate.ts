/** Certificates for a server on this machine, and for its users. */
import type { ServerCertificate } from "../apiserver/serve.ts";
import { createAuthority } from "./_certificates.ts";

/** A certificate by which a user is known, and its key, both as PEM. */
export interface ClientCertificate {
  /** The certificate: its common name is the user, its organizations are groups. */
  readonly certificate: string;
  /** Its key. */
  readonly key: string;
}

/** An authority that nobody knows but whom it is told. */
export interface LocalAuthority {
  /** Its own certificate, as PEM: for those who are to trust it. */
  readonly caCert: string;
  /**
   * Signs a certificate for a server.
   *
   * @param names The names and addresses that the server is known by. @default {["127.0.0.1", "localhost"]}
   */
  server(names?: readonly string[]): Promise<ServerCertificate>;
  /**
   * Signs a certificate for a user of an API server.
   *
   * @param name The user's name.
   * @param groups The groups that the user is in. @default {none}
   */
  client(name: string, groups?: readonly string[]): Promise<ClientCertificate>;
}

/**
 * Makes an authority that signs certificates of servers and users. They are good for 30 days.
 *
 * @returns The authority. Its key is nowhere but in this process.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { kubeconfigFor, localAuthority } from "@op/sdk/testing";
 *
 * const authority = await localAuthority();
 * const certificate = await authority.client("jane", ["team"]);
 * const { caCert } = authority;
 * assert.match(kubeconfigFor("https://127.0.0.1:6443", { certificate, caCert }), /client-certificate-data/);
 * ```
 */
export async function localAuthority(): Promise<LocalAuthority> {
  const authority = await createAuthority();
  const caCert = authority.certificate;
  return {
    caCert,
    server: async (names = ["127.0.0.1", "localhost"]) => ({ ...await authority.server(names), caCert }),
    client: (name, groups = []) => authority.client(name, groups),
  };
}

/**
 * Makes a certificate for a server on this machine, signed by an authority of its own that nobody else knows. It is good for 30 days.
 *
 * @param names The names and addresses that the server is known by. @default {["127.0.0.1", "localhost"]}
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
 * const { caCert } = certificate;
 * assert.match(kubeconfigFor(served.url, { caCert }), /certificate-authority-data/);
 * ```
 */
export async function localCertificate(names?: readonly string[]): Promise<ServerCertificate> {
  const authority = await localAuthority();
  return await authority.server(names);
}
