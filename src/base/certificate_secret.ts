/**
 * The names in the Secret that holds the certificate of an operator's webhooks. The runtime writes
 * them, and the manifests limit what it may write to them.
 */

/**
 * The keys of its data: those of Kubernetes' own TLS Secrets, and cert-manager's for the authority.
 */
export const CERTIFICATE_KEYS = {
  bundle: "ca.crt",
  authorityKey: "ca.key",
  certificate: "tls.crt",
  key: "tls.key",
} as const;

/** Its annotations, which have the times when authority and certificate were issued. */
export const CERTIFICATE_SINCE = { authority: "op/authority-since", server: "op/certificate-since" } as const;
