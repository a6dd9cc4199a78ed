/**
 * Reads and writes the Secret that stores the authority and the certificate of an operator's
 * webhooks.
 */
import { CERTIFICATE_KEYS as KEYS, CERTIFICATE_SINCE as SINCE } from "../../base/certificate_secret.ts";
import { isoTime } from "../../base/iso_time.ts";
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import { Secret } from "../../kinds/core_v1.gen.ts";
import type { Input } from "../../resource/kind.ts";
import type { CertificateSet } from "./authority.ts";

/** The content of the Secret. */
export interface StoredSecret {
  /** `undefined` if it is empty or unreadable; all certificates are then issued again. */
  readonly certificates: CertificateSet | undefined;
  /** Whether it has no data, as in the operator's manifests. */
  readonly isEmpty: boolean;
  readonly resourceVersion: string;
}

/** Name and namespace of the Secret. */
export interface SecretName {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Reads the Secret.
 *
 * @param client The client.
 * @param secret Name and namespace of the Secret.
 * @param signal Cancels the request.
 * @returns Its content, or `undefined` if it does not exist.
 */
export async function readSecret(
  client: Client,
  { name, namespace }: SecretName,
  signal: AbortSignal,
): Promise<StoredSecret | undefined> {
  try {
    const { data = {}, metadata } = await client.get(Secret, name, { namespace, signal });
    return {
      certificates: parseCertificates(data, metadata.annotations ?? {}),
      isEmpty: Object.keys(data).length === 0,
      resourceVersion: metadata.resourceVersion,
    };
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/**
 * Writes the Secret, unless it has changed since it was read.
 *
 * @param client The client.
 * @param secret Name and namespace of the Secret.
 * @param certificates The certificates.
 * @param before The content that was read.
 * @param signal Cancels the request.
 * @throws {ApiError} With status 409 if the Secret has changed.
 * @throws {Error} If the Secret does not exist and the operator may not create it.
 */
export async function writeSecret(
  client: Client,
  { name, namespace }: SecretName,
  certificates: CertificateSet,
  before: StoredSecret | undefined,
  signal: AbortSignal,
): Promise<void> {
  const data = {
    [KEYS.bundle]: btoa(certificates.bundle),
    [KEYS.authorityKey]: btoa(certificates.authority.key),
    [KEYS.certificate]: btoa(certificates.server.certificate),
    [KEYS.key]: btoa(certificates.server.key),
  };
  const annotations = {
    [SINCE.authority]: isoTime(certificates.authoritySince),
    [SINCE.server]: isoTime(certificates.serverSince),
  };
  if (before === undefined) {
    const wanted = { metadata: { name, annotations }, type: "Opaque", data } as Input<typeof Secret>;
    try {
      await client.create(Secret, wanted, { namespace, signal });
    } catch (cause) {
      if (!isStatus(cause, 403)) throw cause;
      throw new Error(
        `Secret "${namespace}/${name}" for the certificate of the webhooks does not exist. Apply the operator's manifests, which contain it.`,
        { cause },
      );
    }
  } else {
    const { resourceVersion } = before;
    await client.patch(Secret, name, { metadata: { resourceVersion, annotations }, data }, { namespace, signal });
  }
}

function parseCertificates(
  data: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): CertificateSet | undefined {
  const text = (key: string): string => {
    try {
      return atob(data[key] ?? "");
    } catch {
      return "";
    }
  };
  const bundle = text(KEYS.bundle);
  const certificates = {
    bundle,
    authority: { certificate: certificatesIn(bundle)[0] ?? "", key: text(KEYS.authorityKey) },
    server: { certificate: text(KEYS.certificate), key: text(KEYS.key) },
    authoritySince: Date.parse(annotations[SINCE.authority] ?? ""),
    serverSince: Date.parse(annotations[SINCE.server] ?? ""),
  };
  const texts = [
    certificates.authority.certificate,
    certificates.authority.key,
    certificates.server.certificate,
    certificates.server.key,
  ];
  const isComplete = texts.every((part) => part !== "") &&
    ![certificates.authoritySince, certificates.serverSince].some(Number.isNaN);
  return isComplete ? certificates : undefined;
}

/**
 * Returns the certificates of a PEM bundle.
 *
 * @param bundle The bundle.
 */
export function certificatesIn(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}
