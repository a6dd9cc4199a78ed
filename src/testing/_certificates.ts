/** A certificate authority for control planes of tests. Kubernetes requires X.509 v3. */
import "../runtime/webhooks/reflect_metadata.ts";
import * as x509 from "@peculiar/x509";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY = 86_400_000;

/** A certificate and its private key, both as PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority. Its key is only in memory. */
export interface Authority {
  /** The authority's own certificate, as PEM. */
  readonly certificate: string;
  /** Signs a certificate for a server with these DNS names and IP addresses. */
  server(names: readonly string[]): Promise<KeyPair>;
  /** Signs a client certificate. Its common name is the user, its organizations are the groups. */
  client(name: string, groups: readonly string[]): Promise<KeyPair>;
}

/** Creates a certificate authority. Its certificates are valid from an hour ago, for 30 days. */
export async function createAuthority(): Promise<Authority> {
  const keys = await generateKeys();
  const [notBefore, notAfter] = validity();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=test cluster authority",
    notBefore,
    notAfter,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });

  async function sign(subject: { [key: string]: string[] }[], extensions: x509.Extension[]): Promise<KeyPair> {
    const leaf = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      // The first byte is below 0x80, because a serial number must be positive.
      serialNumber: `01${crypto.randomUUID().replaceAll("-", "")}`,
      subject,
      issuer: authority.subject,
      notBefore,
      notAfter,
      signingAlgorithm: ALGORITHM,
      publicKey: leaf.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        ...extensions,
      ],
    });
    return { certificate: certificate.toString("pem"), key: await privateKeyPem(leaf.privateKey) };
  }

  return {
    certificate: authority.toString("pem"),
    server: (names) =>
      sign([{ CN: [names[0] ?? "server"] }], [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          names.map((name) => ({ type: isAddress(name) ? "ip" as const : "dns" as const, value: name })),
        ),
      ]),
    client: (name, groups) =>
      sign([...groups.map((group) => ({ O: [group] })), { CN: [name] }], [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]),
  };
}

/**
 * Returns a key pair, as PEM, with which the API server signs and verifies service account tokens.
 */
export async function signingKeys(): Promise<{ key: string; publicKey: string }> {
  const { privateKey, publicKey } = await generateKeys();
  const spki = await crypto.subtle.exportKey("spki", publicKey);
  return { key: await privateKeyPem(privateKey), publicKey: x509.PemConverter.encode(spki, "PUBLIC KEY") + "\n" };
}

function isAddress(name: string): boolean {
  return /^[\d.]+$/.test(name) || name.includes(":");
}

async function generateKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]) as CryptoKeyPair;
}

async function privateKeyPem(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", key), "PRIVATE KEY") + "\n";
}

function validity(): [Date, Date] {
  const now = Date.now();
  return [new Date(now - DAY / 24), new Date(now + 30 * DAY)];
}
