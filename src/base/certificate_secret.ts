/**
 * Keys and annotations of the Secret that stores the certificate of an operator's webhooks. The
 * runtime writes them, and the manifests allow it to write only these.
 */

/**
 * The keys of the Secret's data: those of a `kubernetes.io/tls` Secret, and cert-manager's key for
 * the authority.
 */
export const CERTIFICATE_KEYS = {
  bundle: "ca.crt",
  authorityKey: "ca.key",
  certificate: "tls.crt",
  key: "tls.key",
} as const;

/** The annotations that record when the authority and the certificate were issued. */
export const CERTIFICATE_SINCE = { authority: "op/authority-since", server: "op/certificate-since" } as const;
