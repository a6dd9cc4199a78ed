/** Tells a cluster which authority to trust: `caBundle` of an operator's configurations of webhooks, and of definitions that it converts. */
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../kinds/admissionregistration_v1.gen.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions_v1.gen.ts";
import type { AnyKind, KubeObject } from "../../resource/kind.ts";

/** On a definition whose conversion is developed; what it was before. */
const DEVELOPED = "op/dev-conversion-before";

/** What is called, by name. */
export interface PublishTargets {
  /** The name of the configurations; absent where there are none. */
  readonly mutating?: string;
  readonly validating?: string;
  /** The names of definitions that are converted. */
  readonly definitions: readonly string[];
}

/** An object that is to carry the bundle and does not. */
export interface Unpublished {
  readonly kind: AnyKind;
  readonly name: string;
  readonly type: "merge" | "strategic";
  readonly patch: unknown;
}

interface ClientConfig {
  readonly caBundle?: string;
}

/**
 * What does not carry the bundle yet. What is not installed is passed over: whoever installs it is met at the next look.
 *
 * @param bundle PEM.
 */
export async function unpublished(
  client: Client,
  { mutating, validating, definitions }: PublishTargets,
  bundle: string,
  signal: AbortSignal,
): Promise<Unpublished[]> {
  const wanted = btoa(bundle);
  const configurations = [
    ...(mutating === undefined ? [] : [[MutatingWebhookConfiguration, mutating] as const]),
    ...(validating === undefined ? [] : [[ValidatingWebhookConfiguration, validating] as const]),
  ];
  const found = await Promise.all([
    ...configurations.map(async ([kind, name]): Promise<Unpublished[]> => {
      const object = await look(client, kind, name, signal);
      const webhooks = (object as { webhooks?: readonly { name: string; clientConfig: ClientConfig }[] })?.webhooks;
      const stale = (webhooks ?? []).filter(({ clientConfig }) => clientConfig.caBundle !== wanted);
      if (object === undefined || stale.length === 0) return [];
      const patch = {
        ...sameVersion(object),
        webhooks: stale.map(({ name }) => ({ name, clientConfig: { caBundle: wanted } })),
      };
      return [{ kind, name, type: "strategic", patch }];
    }),
    ...definitions.map(async (name): Promise<Unpublished[]> => {
      const object = await look(client, CustomResourceDefinition, name, signal);
      const { conversion } = (object as { spec?: { conversion?: Conversion } })?.spec ?? {};
      // Somebody else's conversion, or none, is left alone, and one that `op dev` takes to another machine until it ends.
      if (object === undefined || conversion?.strategy !== "Webhook") return [];
      if (object.metadata.annotations?.[DEVELOPED] !== undefined) return [];
      if (conversion.webhook?.clientConfig?.caBundle === wanted) return [];
      const spec = { conversion: { webhook: { clientConfig: { caBundle: wanted } } } };
      return [{ kind: CustomResourceDefinition, name, type: "merge", patch: { ...sameVersion(object), spec } }];
    }),
  ]);
  return found.flat();
}

/**
 * Publishes the bundle where it is missing.
 *
 * @throws {ApiError} With status 409 if somebody else changed the object meanwhile.
 */
export async function publish(client: Client, missing: readonly Unpublished[], signal: AbortSignal): Promise<void> {
  for (const { kind, name, type, patch } of missing) await client.patch(kind, name, patch, { type, signal });
}

interface Conversion {
  readonly strategy: string;
  readonly webhook?: { readonly clientConfig?: ClientConfig };
}

async function look(client: Client, kind: AnyKind, name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, name, { signal });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/** A webhook that is taken out meanwhile must not come back by the patch. */
function sameVersion({ metadata: { resourceVersion } }: KubeObject): { metadata: { resourceVersion: string } } {
  return { metadata: { resourceVersion } };
}
