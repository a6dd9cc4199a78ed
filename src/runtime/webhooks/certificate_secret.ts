/** The Secret in which the replicas of an operator find the authority and the certificate of its webhooks. */
import { CERTIFICATE_KEYS as KEYS, CERTIFICATE_SINCE as SINCE } from "../../base/certificate_secret.ts";
import { isoTime } from "../../base/iso_time.ts";
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import { Secret } from "../../kinds/core_v1.gen.ts";
import type { Input } from "../../resource/kind.ts";
import type { Held } from "./authority.ts";

/** What the Secret holds, and which version of it that is. */
export interface Stored {
  /** `undefined` if it is empty or cannot be read: then certificates are issued again. */
  readonly held: Held | undefined;
  /** Whether it has no data, as the manifests have it. */
  readonly isEmpty: boolean;
  readonly resourceVersion: string;
}

/** Where it is. */
export interface SecretPlace {
  readonly name: string;
  readonly namespace: string;
}

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
    return {
      held: heldIn(data, metadata.annotations ?? {}),
      isEmpty: Object.keys(data).length === 0,
      resourceVersion: metadata.resourceVersion,
    };
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
 * @throws {Error} If it does not exist and may not be created: the manifests of an operator have it.
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
    try {
      await client.create(Secret, wanted, { namespace, signal });
    } catch (cause) {
      if (!isStatus(cause, 403)) throw cause;
      throw new Error(
        `Secret "${namespace}/${name}" for the certificate of the webhooks does not exist. Apply the operator's manifests, which have it.`,
        { cause },
      );
    }
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
