/**
 * Writes the certificate authority to `caBundle` of an operator's webhook configurations, and of
 * the CustomResourceDefinitions that it converts.
 */
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "../../kinds/admissionregistration_v1.gen.ts";
import { CustomResourceDefinition } from "../../kinds/apiextensions_v1.gen.ts";
import type { AnyKind, KubeObject } from "../../resource/kind.ts";

/**
 * Annotation that `op dev` sets on a CustomResourceDefinition. Its value is the previous
 * conversion.
 */
const DEV_CONVERSION = "op/dev-conversion-before";

/** Names of the objects that contain the bundle. */
export interface PublishTargets {
  /** Name of the MutatingWebhookConfiguration; `undefined` if there is none. */
  readonly mutating?: string;
  /** Name of the ValidatingWebhookConfiguration; `undefined` if there is none. */
  readonly validating?: string;
  /** Names of the CustomResourceDefinitions with conversions. */
  readonly definitions: readonly string[];
}

/** An object without the current bundle, and the patch that adds it. */
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
 * Returns the objects that do not have the bundle. Objects that do not exist are skipped; the next
 * check finds them once they are created.
 *
 * @param client The client.
 * @param targets Names of the objects.
 * @param bundle The bundle, as PEM.
 * @param signal Cancels the requests.
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
      const object = await getIfExists(client, kind, name, signal);
      const webhooks = (object as { webhooks?: readonly { name: string; clientConfig: ClientConfig }[] })?.webhooks;
      const stale = (webhooks ?? []).filter(({ clientConfig }) => clientConfig.caBundle !== wanted);
      if (object === undefined || stale.length === 0) return [];
      const patch = {
        ...versionCheck(object),
        webhooks: stale.map(({ name }) => ({ name, clientConfig: { caBundle: wanted } })),
      };
      return [{ kind, name, type: "strategic", patch }];
    }),
    ...definitions.map(async (name): Promise<Unpublished[]> => {
      const object = await getIfExists(client, CustomResourceDefinition, name, signal);
      const { conversion } = (object as { spec?: { conversion?: Conversion } })?.spec ?? {};
      // Skip definitions without a conversion webhook, and those whose conversion `op dev`
      // currently redirects to a developer's machine.
      if (object === undefined || conversion?.strategy !== "Webhook") return [];
      if (object.metadata.annotations?.[DEV_CONVERSION] !== undefined) return [];
      if (conversion.webhook?.clientConfig?.caBundle === wanted) return [];
      const spec = { conversion: { webhook: { clientConfig: { caBundle: wanted } } } };
      return [{ kind: CustomResourceDefinition, name, type: "merge", patch: { ...versionCheck(object), spec } }];
    }),
  ]);
  return found.flat();
}

/**
 * Patches objects so that they have the bundle.
 *
 * @param client The client.
 * @param missing The objects and patches.
 * @param signal Cancels the requests.
 * @throws {ApiError} With status 409 if an object has changed meanwhile.
 */
export async function publish(client: Client, missing: readonly Unpublished[], signal: AbortSignal): Promise<void> {
  for (const { kind, name, type, patch } of missing) await client.patch(kind, name, patch, { type, signal });
}

interface Conversion {
  readonly strategy: string;
  readonly webhook?: { readonly clientConfig?: ClientConfig };
}

async function getIfExists(
  client: Client,
  kind: AnyKind,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(kind, name, { signal });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/**
 * Returns metadata that makes a patch fail if the object has changed. Without it, the patch could
 * add a webhook again that was removed in the meantime.
 */
function versionCheck({ metadata: { resourceVersion } }: KubeObject): { metadata: { resourceVersion: string } } {
  return { metadata: { resourceVersion } };
}
