/** The certificate type of the webhook server. */

/** A certificate and its private key, both as PEM. */
export interface CertificateFiles {
  /** The certificate, followed by intermediate certificates. */
  readonly certificate: string;
  readonly key: string;
}
