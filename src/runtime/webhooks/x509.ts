/** Certificates made and read (`@peculiar/x509`). It is imported only where certificates are looked at: it takes its time. */
import "./reflect_metadata.ts";
import * as x509 from "@peculiar/x509";
import type { CertificateFiles } from "./certificate.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
// Clocks of machines differ.
const BACKDATED = 3_600_000;

/** How long a certificate is good. Milliseconds since the epoch. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** What is read of a certificate. */
export interface CertificateFacts extends Validity {
  /** Names and addresses. */
  readonly names: readonly string[];
  /** Tells keys apart. */
  readonly keyId: string;
  /** The key that signed it. */
  readonly authorityKeyId: string;
}

/**
 * Makes an authority that signs itself.
 *
 * @param name Its name.
 * @param validity For how long it is good; what is made now is good for an hour back.
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
 * Makes a server's certificate.
 *
 * @param authority Who signs it.
 * @param names Names and addresses of the server.
 * @param validity For how long it is good.
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
 * What is in a file of certificates.
 *
 * @param text PEM, of one or several.
 * @throws {Error} If it is none.
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

/** Each of its own, and positive: the first byte stays below 0x80. */
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
