/** A certificate as files have it. */

/** A certificate with those that lead to its authority, and its private key: both PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}
