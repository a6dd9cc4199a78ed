/**
 * Decides the next step for the certificate authority and the server certificate of an operator's
 * webhooks. This is a pure function of the stored certificates and the time.
 *
 * An authority is renewed in three steps, so that every client trusts the certificate of every
 * replica at any time:
 *
 * 1. The new authority is added to the bundle. The server keeps its certificate.
 * 2. When API servers have had time to read the bundle, the new authority issues the server's
 *    certificate.
 * 3. When all replicas have had time to load that certificate, the old authority is removed from
 *    the
 *    bundle.
 */
import type { CertificateFacts } from "./x509.ts";
import type { CertificateFiles } from "./certificate.ts";

/** Validity of certificates, and delays between the steps of a renewal. All are in milliseconds. */
export interface CertificateTimes {
  /** Validity of an authority. It is renewed after two thirds of this time. */
  readonly authority: number;
  /** Validity of the server's certificate. It is renewed after two thirds of this time. */
  readonly server: number;
  /**
   * How long a bundle must be published before it is relied on: API servers learn of it by their
   * watches.
   */
  readonly publish: number;
  /**
   * How long the server's certificate must be in use before the previous authority is dropped:
   * replicas poll for it.
   */
  readonly drop: number;
  /** How often the Secret is checked. Must be less than `drop`. */
  readonly look: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * The default times: an authority is valid for two years, and a certificate for 90 days as with
 * cert-manager.
 */
export const USUAL_TIMES: CertificateTimes = {
  authority: 730 * DAY,
  server: 90 * DAY,
  publish: MINUTE,
  drop: 15 * MINUTE,
  look: MINUTE / 6,
};

/** The certificates in the Secret. */
export interface Held {
  /** All authorities that clients trust, the newest first, as PEM. */
  readonly bundle: string;
  /** The newest authority. */
  readonly authority: CertificateFiles;
  readonly server: CertificateFiles;
  /** When the newest authority was created, in milliseconds since the epoch. */
  readonly authoritySince: number;
  /** When the server's certificate was issued, in milliseconds since the epoch. */
  readonly serverSince: number;
}

/** Facts of the certificates in the Secret. */
export interface HeldFacts extends Pick<Held, "authoritySince" | "serverSince"> {
  /** The authorities of the bundle, the newest first. */
  readonly authorities: readonly CertificateFacts[];
  readonly server: CertificateFacts;
}

/** A step of creating or renewing certificates. */
export type CertificateStep =
  | "create all"
  | "add an authority"
  | "issue a certificate"
  | "drop old authorities"
  | "wait";

/**
 * Returns the next step, and when to check again at the latest.
 *
 * @param held The stored certificates; `undefined` if there are none or they cannot be read.
 * @param now The time, in milliseconds since the epoch.
 * @param names The names and addresses of the server.
 * @param times Validity and delays.
 * @param publishedSince Since when the bundle is in all webhook configurations; `undefined` while
 * it is
 *   not.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(nextStep(undefined, 0, ["a.b.svc"], USUAL_TIMES).step, "create all");
 * ```
 */
export function nextStep(
  held: HeldFacts | undefined,
  now: number,
  names: readonly string[],
  times: CertificateTimes,
  publishedSince?: number,
): { readonly step: CertificateStep; readonly at: number } {
  const [newest] = held?.authorities ?? [];
  if (held === undefined || newest === undefined || newest.until <= now) return { step: "create all", at: now };
  const { server, authoritySince, serverSince } = held;
  const isTrusted = held.authorities.some(({ keyId, until }) => keyId === server.authorityKeyId && until > now);
  // No client can call the server now, so a certificate that clients do not trust yet is no worse.
  if (!isTrusted || server.until <= now) return { step: "issue a certificate", at: now };
  const renewal = renewalOf(authoritySince, newest.until);
  if (now >= renewal) return { step: "add an authority", at: now };
  const isByNewest = server.authorityKeyId === newest.keyId;
  if (!isByNewest) {
    const at = (publishedSince ?? now) + times.publish;
    return now >= at ? { step: "issue a certificate", at } : { step: "wait", at };
  }
  const isNamed = names.every((name) => server.names.includes(name));
  const expiry = renewalOf(serverSince, server.until);
  if (!isNamed || now >= expiry) return { step: "issue a certificate", at: now };
  if (held.authorities.length > 1) {
    const at = serverSince + times.drop;
    return now >= at ? { step: "drop old authorities", at } : { step: "wait", at };
  }
  return { step: "wait", at: Math.min(renewal, expiry) };
}

/** After two thirds of the validity, so a third is left for retries. */
function renewalOf(since: number, until: number): number {
  return since + (until - since) * 2 / 3;
}
