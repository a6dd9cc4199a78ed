/** Whose a client certificate is (`k8s.io/apiserver/pkg/authentication/request/x509`). */
import type { PeerCertificate } from "node:tls";
import { AUTHENTICATED, type User } from "./user.ts";

/**
 * The user that a certificate names: the common name, with the organisations as groups.
 *
 * @param certificate A certificate that was verified.
 * @returns The user; nothing where the certificate names nobody.
 */
export function certificateUser({ subject, fingerprint256 }: PeerCertificate): User | undefined {
  const [name] = texts(subject?.CN);
  if (!name) return undefined;
  const id = `X509SHA256=${fingerprint256.replaceAll(":", "").toLowerCase()}`;
  return {
    name,
    groups: [...texts(subject.O), AUTHENTICATED],
    extra: { "authentication.kubernetes.io/credential-id": [id] },
  };
}

/** What a subject has once is a text, what it has several times a list. */
function texts(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value;
}
