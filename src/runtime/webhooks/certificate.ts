/** Certificates of the webhook server and their private keys, as PEM. */

/** A certificate and its private key, both as PEM. */
export interface CertificateFiles {
  /** The certificate, followed by intermediate certificates. */
  readonly certificate: string;
  readonly key: string;
}
