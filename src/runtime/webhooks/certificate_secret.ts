/** The Secret in which the replicas of an operator find the authority and the certificate of its webhooks. */
import { isoTime } from "../../base/iso_time.ts";
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import { Secret } from "../../kinds/core_v1.gen.ts";
import type { Input } from "../../resource/kind.ts";
import type { Held } from "./authority.ts";

/** What the Secret holds, and which version of it that is. */
export interface Stored {
  /** Nothing where it cannot be read: it is made anew. */
  readonly held: Held | undefined;
  readonly resourceVersion: string;
}

/** Where it is. */
export interface SecretPlace {
  readonly name: string;
  readonly namespace: string;
}

// The names are those of Kubernetes' own TLS Secrets, and cert-manager's for the authority.
const KEYS = { bundle: "ca.crt", authorityKey: "ca.key", certificate: "tls.crt", key: "tls.key" } as const;
const SINCE = { authority: "op/authority-since", server: "op/certificate-since" } as const;

/**
 * Reads it.
 *
 * @returns What is there; nothing where there is none.
 */
export async function readSecret(
  client: Client,
  { name, namespace }: SecretPlace,
  signal: AbortSignal,
): Promise<Stored | undefined> {
  try {
    const { data = {}, metadata } = await client.get(Secret, name, { namespace, signal });
    return { held: heldIn(data, metadata.annotations ?? {}), resourceVersion: metadata.resourceVersion };
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/**
 * Writes it, unless somebody else did since it was read.
 *
 * @param before What was read.
 * @throws {ApiError} With status 409 if somebody else was quicker.
 */
export async function writeSecret(
  client: Client,
  { name, namespace }: SecretPlace,
  held: Held,
  before: Stored | undefined,
  signal: AbortSignal,
): Promise<void> {
  const data = {
    [KEYS.bundle]: btoa(held.bundle),
    [KEYS.authorityKey]: btoa(held.authority.key),
    [KEYS.certificate]: btoa(held.server.certificate),
    [KEYS.key]: btoa(held.server.key),
  };
  const annotations = {
    [SINCE.authority]: isoTime(held.authoritySince),
    [SINCE.server]: isoTime(held.serverSince),
  };
  if (before === undefined) {
    const wanted = { metadata: { name, annotations }, type: "Opaque", data } as Input<typeof Secret>;
    await client.create(Secret, wanted, { namespace, signal });
  } else {
    const { resourceVersion } = before;
    await client.patch(Secret, name, { metadata: { resourceVersion, annotations }, data }, { namespace, signal });
  }
}

function heldIn(
  data: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): Held | undefined {
  const text = (key: string): string => {
    try {
      return atob(data[key] ?? "");
    } catch {
      return "";
    }
  };
  const bundle = text(KEYS.bundle);
  const held = {
    bundle,
    authority: { certificate: certificatesIn(bundle)[0] ?? "", key: text(KEYS.authorityKey) },
    server: { certificate: text(KEYS.certificate), key: text(KEYS.key) },
    authoritySince: Date.parse(annotations[SINCE.authority] ?? ""),
    serverSince: Date.parse(annotations[SINCE.server] ?? ""),
  };
  const texts = [held.authority.certificate, held.authority.key, held.server.certificate, held.server.key];
  const isWhole = texts.every((part) => part !== "") && ![held.authoritySince, held.serverSince].some(Number.isNaN);
  return isWhole ? held : undefined;
}

/** The certificates of a bundle, one by one. */
export function certificatesIn(bundle: string): string[] {
  return bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}
