/**
 * What is to be done next about the authority and the certificate of an operator's webhooks: pure, of what is there and what time it is.
 *
 * An authority is renewed in steps, between which clients get to know it: a new one joins the bundle, while the server keeps its certificate; when the
 * bundle has been published for a while, the server's certificate is made by the new one; when all replicas have taken that, the old one leaves the bundle.
 * So at each moment every client trusts what every replica shows.
 */
import type { CertificateFacts } from "./x509.ts";
import type { CertificateFiles } from "./certificate.ts";

/** How long certificates are good, and how long the steps of a renewal are apart. All are milliseconds. */
export interface CertificateTimes {
  /** How long an authority is good. Two thirds into it, it is renewed. */
  readonly authority: number;
  /** How long the server's certificate is good. Two thirds into it, it is renewed. */
  readonly server: number;
  /** How long a bundle has to be published before a certificate counts on it: API servers hear of it by their watches. */
  readonly publish: number;
  /** How long the server's certificate has to be there before the authority of the one before is dropped: replicas look for it. */
  readonly drop: number;
  /** How long it is between two looks at what is there: less than `drop`. */
  readonly look: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Two years and 90 days, as cert-manager's usual; a minute and a quarter of an hour for the steps. */
export const USUAL_TIMES: CertificateTimes = {
  authority: 730 * DAY,
  server: 90 * DAY,
  publish: MINUTE,
  drop: 15 * MINUTE,
  look: MINUTE / 6,
};

/** What the Secret holds. */
export interface Held {
  /** All authorities that clients trust, the newest first: PEM. */
  readonly bundle: string;
  /** The newest authority. */
  readonly authority: CertificateFiles;
  readonly server: CertificateFiles;
  /** When the newest authority was made, and when the server's certificate. */
  readonly authoritySince: number;
  readonly serverSince: number;
}

/** What is read of it. */
export interface HeldFacts extends Pick<Held, "authoritySince" | "serverSince"> {
  /** Those of the bundle, the newest first. */
  readonly authorities: readonly CertificateFacts[];
  readonly server: CertificateFacts;
}

/** What is to be done. */
export type CertificateStep =
  | "begin"
  | "make an authority"
  | "make a certificate"
  | "drop the authorities before"
  | "nothing";

/**
 * What is to be done next, and when to ask again at the latest.
 *
 * @param held What is there; nothing where there is none, or none that can be read.
 * @param now The time.
 * @param names The names that the server is to be known by.
 * @param times How long all is good.
 * @param publishedSince Since when the bundle is where clients look; nothing while it is not.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(nextStep(undefined, 0, ["a.b.svc"], USUAL_TIMES).step, "begin");
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
  if (held === undefined || newest === undefined || newest.until <= now) return { step: "begin", at: now };
  const { server, authoritySince, serverSince } = held;
  const isTrusted = held.authorities.some(({ keyId, until }) => keyId === server.authorityKeyId && until > now);
  // Nobody can call a server like that: what clients do not know yet is no worse.
  if (!isTrusted || server.until <= now) return { step: "make a certificate", at: now };
  const renewal = renewalOf(authoritySince, newest.until);
  if (now >= renewal) return { step: "make an authority", at: now };
  const isByNewest = server.authorityKeyId === newest.keyId;
  if (!isByNewest) {
    const at = (publishedSince ?? now) + times.publish;
    return now >= at ? { step: "make a certificate", at } : { step: "nothing", at };
  }
  const isNamed = names.every((name) => server.names.includes(name));
  const expiry = renewalOf(serverSince, server.until);
  if (!isNamed || now >= expiry) return { step: "make a certificate", at: now };
  if (held.authorities.length > 1) {
    const at = serverSince + times.drop;
    return now >= at ? { step: "drop the authorities before", at } : { step: "nothing", at };
  }
  return { step: "nothing", at: Math.min(renewal, expiry) };
}

/** Two thirds into its time: a third is left for what goes wrong. */
function renewalOf(since: number, until: number): number {
  return since + (until - since) * 2 / 3;
}
