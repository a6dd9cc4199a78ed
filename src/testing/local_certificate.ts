/** Certificates for servers on this machine and for their users. */
import type { ServerCertificate } from "../apiserver/serve.ts";
import { createAuthority } from "./_certificates.ts";

/** A client certificate and its key, both as PEM. */
export interface ClientCertificate {
  /** The certificate. Its common name is the user, its organizations are the groups. */
  readonly certificate: string;
  /** The private key. */
  readonly key: string;
}

/** A certificate authority for tests and development. */
export interface LocalAuthority {
  /**
   * Certificate of the authority, as PEM. Clients that trust it trust the certificates it signs.
   */
  readonly caCert: string;
  /**
   * Signs a certificate for a server.
   *
   * @param names DNS names and IP addresses of the server. @default {["127.0.0.1", "localhost"]}
   */
  server(names?: readonly string[]): Promise<ServerCertificate>;
  /**
   * Signs a certificate for a user of an API server.
   *
   * @param name The user's name.
   * @param groups The groups of the user. @default {[]}
   */
  client(name: string, groups?: readonly string[]): Promise<ClientCertificate>;
}

/**
 * Creates an authority that signs certificates of servers and users. They are valid for 30 days.
 *
 * @returns The authority. Its key is only in the memory of this process.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { kubeconfigFor, localAuthority } from "@op/sdk/testing";
 *
 * const authority = await localAuthority();
 * const certificate = await authority.client("jane", ["team"]);
 * const { caCert } = authority;
 * const kubeconfig = kubeconfigFor("https://127.0.0.1:6443", { certificate, caCert });
 * assert.match(kubeconfig, /client-certificate-data/);
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
 * Creates a certificate for a server on this machine, signed by a new authority. It is valid for 30
 * days.
 *
 * @param names DNS names and IP addresses of the server. @default {["127.0.0.1", "localhost"]}
 * @returns The certificate, its key and the certificate of the authority.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import {
 *   createApiserver,
 *   kubeconfigFor,
 *   localCertificate,
 *   serveApiserver,
 * } from "@op/sdk/testing";
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
