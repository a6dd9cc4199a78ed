/**
 * Issues and reads certificates. Import this file dynamically, because `@peculiar/x509` loads
 * slowly.
 */
import "./reflect_metadata.ts";
import * as x509 from "@peculiar/x509";
import type { CertificateFiles } from "./certificate.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
// Certificates become valid one hour before they are issued, because the clocks of machines differ.
const BACKDATED = 3_600_000;

/** Validity of a certificate, in milliseconds since the epoch. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** The properties of a certificate that renewal depends on. */
export interface CertificateFacts extends Validity {
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  /** Subject key identifier. */
  readonly keyId: string;
  /** Identifier of the key that signed it. */
  readonly authorityKeyId: string;
}

/**
 * Creates a self-signed certificate authority.
 *
 * @param name Its common name.
 * @param validity Its validity. The start is moved back by one hour.
 */
export async function makeAuthority(name: string, { from, until }: Validity): Promise<CertificateFiles> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [name.slice(0, 64)] }],
    notBefore: new Date(from - BACKDATED),
    notAfter: new Date(until),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pem(certificate), key: await keyPem(keys.privateKey) };
}

/**
 * Issues a server certificate.
 *
 * @param authority The authority that signs it.
 * @param names DNS names and IP addresses of the server.
 * @param validity Its validity. The end is limited to that of the authority, and the start is moved
 * back by one hour.
 */
export async function makeServerCertificate(
  authority: CertificateFiles,
  names: readonly string[],
  { from, until }: Validity,
): Promise<CertificateFiles> {
  const signer = new x509.X509Certificate(authority.certificate);
  const signingKey = await crypto.subtle.importKey(
    "pkcs8",
    x509.PemConverter.decodeFirst(authority.key),
    ALGORITHM,
    false,
    ["sign"],
  );
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [{ CN: [(names[0] ?? "webhooks").slice(0, 64)] }],
    issuer: signer.subject,
    notBefore: new Date(from - BACKDATED),
    notAfter: new Date(Math.min(until, signer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((name) => ({ type: isAddress(name) ? "ip" as const : "dns" as const, value: name })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey),
    ],
  });
  return { certificate: pem(certificate), key: await keyPem(keys.privateKey) };
}

/**
 * Reads the certificates of a PEM file.
 *
 * @param text The PEM text.
 * @throws {Error} If a certificate cannot be read.
 */
export function readCertificates(text: string): CertificateFacts[] {
  return x509.PemConverter.decodeWithHeaders(text).filter(({ type }) => type === "CERTIFICATE").map(({ rawData }) => {
    const certificate = new x509.X509Certificate(rawData);
    const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [];
    return {
      from: certificate.notBefore.getTime(),
      until: certificate.notAfter.getTime(),
      names: names.map(({ value }) => value),
      keyId: certificate.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId ?? "",
      authorityKeyId: certificate.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId ?? "",
    };
  });
}

async function newKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as CryptoKeyPair;
}

/** Returns a random serial number. Its first byte is 1, because serial numbers must be positive. */
function serialNumber(): string {
  return `01${crypto.randomUUID().replaceAll("-", "")}`;
}

function pem(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem")}\n`;
}

async function keyPem(key: CryptoKey): Promise<string> {
  return `${x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY")}\n`;
}

function isAddress(name: string): boolean {
  return /^\d+\.\d+\.\d+\.\d+$/.test(name) || name.includes(":");
}
