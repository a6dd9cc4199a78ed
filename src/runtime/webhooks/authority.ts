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
   * How long a bundle must be published before its new authority may issue the server's
   * certificate. API servers receive the bundle by their watches.
   */
  readonly publish: number;
  /**
   * How long after a server certificate is issued the previous authority is dropped. Replicas poll
   * for the new certificate.
   */
  readonly drop: number;
  /** How often the Secret is checked. Must be less than `drop`. */
  readonly checkInterval: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * The default times: an authority is valid for two years, and a certificate for 90 days as with
 * cert-manager.
 */
export const DEFAULT_TIMES: CertificateTimes = {
  authority: 730 * DAY,
  server: 90 * DAY,
  publish: MINUTE,
  drop: 15 * MINUTE,
  checkInterval: MINUTE / 6,
};

/** The certificates and keys in the Secret. */
export interface CertificateSet {
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

/** The properties of the certificates in the Secret that renewal depends on. */
export interface CertificateSetFacts extends Pick<CertificateSet, "authoritySince" | "serverSince"> {
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
 * @param facts The stored certificates; `undefined` if there are none, or if they are unreadable.
 * @param now The time, in milliseconds since the epoch.
 * @param names The names and addresses of the server.
 * @param times Validity and delays.
 * @param publishedSince When the bundle was in all webhook configurations for the first time;
 * `undefined` if one does not have it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(nextStep(undefined, 0, ["a.b.svc"], DEFAULT_TIMES).step, "create all");
 * ```
 */
export function nextStep(
  facts: CertificateSetFacts | undefined,
  now: number,
  names: readonly string[],
  times: CertificateTimes,
  publishedSince?: number,
): { readonly step: CertificateStep; readonly at: number } {
  const [newest] = facts?.authorities ?? [];
  if (facts === undefined || newest === undefined || newest.until <= now) return { step: "create all", at: now };
  const { server, authoritySince, serverSince } = facts;
  const isTrusted = facts.authorities.some(({ keyId, until }) => keyId === server.authorityKeyId && until > now);
  // No client trusts the current certificate, so it is replaced at once, although clients may not
  // trust the new one yet.
  if (!isTrusted || server.until <= now) return { step: "issue a certificate", at: now };
  const renewal = renewalTime(authoritySince, newest.until);
  if (now >= renewal) return { step: "add an authority", at: now };
  const isIssuedByNewest = server.authorityKeyId === newest.keyId;
  if (!isIssuedByNewest) {
    const at = (publishedSince ?? now) + times.publish;
    return now >= at ? { step: "issue a certificate", at } : { step: "wait", at };
  }
  const hasAllNames = names.every((name) => server.names.includes(name));
  const expiry = renewalTime(serverSince, server.until);
  if (!hasAllNames || now >= expiry) return { step: "issue a certificate", at: now };
  if (facts.authorities.length > 1) {
    const at = serverSince + times.drop;
    return now >= at ? { step: "drop old authorities", at } : { step: "wait", at };
  }
  return { step: "wait", at: Math.min(renewal, expiry) };
}

/** Returns the end of two thirds of a validity. The last third is for retries. */
function renewalTime(since: number, until: number): number {
  return since + (until - since) * 2 / 3;
}
