/**
 * Registers the webhooks of an operator on this machine in a cluster, and removes the registration.
 * Webhooks get their own configurations. A conversion is redirected in the definition. An
 * annotation stores the previous conversion, so that any later command can restore it, even if this
 * process was killed.
 */
import {
  ConfigMap,
  CustomResourceDefinition,
  EndpointSlice,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from "@op/sdk/kinds";
import type { KubeObject } from "@op/sdk";
import type { Manifest } from "@op/sdk/operator";
import { applyFailure, type Cluster, ifFound, ifReadable } from "../cluster.ts";
import { DEV_MANAGER } from "../field_manager.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { PlainObject } from "../objects.ts";
import type { LeaseName } from "./dev_lease.ts";
import { REACHED_PATH } from "./webhook_front.ts";

/** The address at which the API server reaches the webhooks. */
export interface WebhookAddress {
  /** The URL without a path. */
  readonly url: string;
  /** The certificate authority, as PEM. */
  readonly caCert: string;
  /** The Lease of the `op dev` there. */
  readonly lease?: LeaseName;
}

/** An object in a cluster that makes the API server call an `op dev`. */
export interface Registration {
  /** The name for messages: `the conversion of notes.demo.example.com`. */
  readonly shown: string;
  /** The name of the definition, if it is a conversion. */
  readonly definition?: string;
  /** The Lease of the `op dev` that registered it. */
  readonly lease?: LeaseName;
}

type Facts = {
  readonly name: string;
  readonly manifests: Pick<OperatorFacts["manifests"], "crd" | "webhook">;
};

/**
 * Annotation with the previous conversion. While a definition has it, an operator in the cluster
 * does not change its conversion.
 */
const PREVIOUS_CONVERSION = "op/dev-conversion-before";
/** Annotation with the Lease of the `op dev` that registered the object: `namespace/name`. */
const LEASE_ANNOTATION = "op/dev-lease";
const DEV_LABEL = "op/dev";
const API = "admissionregistration.k8s.io/v1";
const KINDS = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] as const;
/** API servers notice a configuration within a second. All attempts together take ten seconds. */
const ATTEMPTS = 100;
/** The pause between two attempts, in milliseconds. */
const PAUSE = 100;

/** Returns whether the operator has webhooks or conversions. */
export function hasWebhooks({ manifests: { webhook, crd } }: Facts): boolean {
  return webhook.some(({ kind }) => isWebhookConfiguration(kind)) || crd.some((one) => conversionOf(one) !== undefined);
}

/**
 * Returns the operator's webhook configurations, with an address instead of its Service.
 *
 * @param facts The operator's declarations.
 * @param address The address.
 */
export function configurationsAt({ name, manifests }: Facts, address: WebhookAddress): PlainObject[] {
  return manifests.webhook.filter(({ kind }) => isWebhookConfiguration(kind)).map((manifest: Manifest) => {
    const { apiVersion, kind, webhooks } = manifest as Manifest & { readonly webhooks: readonly WebhookEntry[] };
    return configuration(
      { apiVersion, kind, name },
      webhooks.map((entry) => ({ ...entry, clientConfig: clientAt(address, entry.clientConfig.service?.path ?? "") })),
      address,
    );
  });
}

/**
 * Checks that the API server reaches an address, with a webhook for a single object that is never
 * stored.
 *
 * @param facts The operator's declarations.
 * @param address The address, which serves {@linkcode REACHED_PATH}.
 * @param wasCalled Returns whether the webhook was called.
 * @returns The API server's error, or `undefined` if it called the webhook.
 */
export async function reachError(
  cluster: Cluster,
  { name }: Facts,
  address: WebhookAddress,
  wasCalled: () => boolean,
): Promise<string | undefined> {
  const mark = { [DEV_LABEL]: crypto.randomUUID() };
  await apply(
    cluster,
    configuration({ apiVersion: API, kind: KINDS[1], name }, [{
      name: `reached.${name}.op`,
      rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
      objectSelector: { matchLabels: mark },
      clientConfig: clientAt(address, REACHED_PATH),
      failurePolicy: "Fail",
      sideEffects: "None",
      timeoutSeconds: 5,
      admissionReviewVersions: ["v1"],
    }], address),
  );
  const { namespace } = cluster;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const object = { metadata: { generateName: `${name}-`, labels: mark } };
      await cluster.client.create(ConfigMap, object, { namespace, dryRun: true });
    } catch (error) {
      // The API server's message has the reason: no route, an unknown host, an untrusted
      // certificate.
      return (error as Error).message;
    }
    if (wasCalled()) return undefined;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
  return "the API server did not call the webhook";
}

/**
 * Makes the API server call an address: applies configurations, removes those that are no longer
 * declared, and redirects conversions.
 *
 * @returns The names of the configurations and conversions that were changed, for messages.
 */
export async function register(cluster: Cluster, facts: Facts, address: WebhookAddress): Promise<string[]> {
  const changed: string[] = [];
  const desired = configurationsAt(facts, address);
  for (const kind of KINDS) {
    const object = desired.find((one) => one.kind === kind);
    const isChanged = object === undefined ? await remove(cluster, kind, facts.name) : await apply(cluster, object);
    if (isChanged) changed.push(`${kind} ${devName(facts.name)}`);
  }
  for (const crd of facts.manifests.crd) {
    const conversion = conversionOf(crd);
    if (conversion === undefined) continue;
    const { path = "" } = conversion.webhook.clientConfig.service ?? {};
    const { name } = crd.metadata;
    if (await redirectConversion(cluster, name, address, path)) changed.push(`the conversion of ${name}`);
  }
  return changed;
}

/**
 * Removes the registrations of any `op dev`.
 *
 * @returns The names of the configurations and conversions that were removed, for messages.
 */
export async function unregister(
  cluster: Cluster,
  { name, manifests }: { readonly name: string; readonly manifests: Pick<OperatorFacts["manifests"], "crd"> },
): Promise<string[]> {
  const removed: string[] = [];
  for (const kind of KINDS) if (await remove(cluster, kind, name)) removed.push(`${kind} ${devName(name)}`);
  for (const { metadata } of manifests.crd) {
    if (await restoreConversion(cluster, metadata.name)) removed.push(`the conversion of ${metadata.name}`);
  }
  return removed;
}

/**
 * Returns the registrations in a cluster.
 *
 * @param cluster The cluster.
 * @param facts The operator's name and definitions.
 */
export async function registeredIn(
  cluster: Cluster,
  { name, manifests }: { readonly name: string; readonly manifests: Pick<OperatorFacts["manifests"], "crd"> },
): Promise<Registration[]> {
  const found: Registration[] = [];
  for (const kind of KINDS) {
    const live = await ownConfiguration(cluster, kind, name);
    if (live !== undefined) found.push({ shown: `${kind} ${devName(name)}`, ...leaseOf(live) });
  }
  for (const { metadata } of manifests.crd) {
    const live = await ifFound(() => cluster.client.get(CustomResourceDefinition, metadata.name));
    if (live?.metadata.annotations?.[PREVIOUS_CONVERSION] === undefined) continue;
    found.push({ shown: `the conversion of ${metadata.name}`, definition: metadata.name, ...leaseOf(live) });
  }
  return found;
}

/**
 * Returns the webhook configurations of the deployed operator that block requests, because they
 * call a Service without ready pods: `ValidatingWebhookConfiguration shop`.
 *
 * @param cluster The cluster.
 * @param facts The operator's name.
 */
export async function blockingConfigurations(cluster: Cluster, { name }: { readonly name: string }): Promise<string[]> {
  const blocking: string[] = [];
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    const live = await ifReadable(() => cluster.client.get(kind, name));
    for (const { failurePolicy, clientConfig: { service } } of live?.webhooks ?? []) {
      if (failurePolicy === "Ignore" || service === undefined) continue;
      const ready = await ifReadable(() => readyPods(cluster, service.namespace, service.name));
      if (ready !== 0) continue;
      blocking.push(`${kind.kind} ${name}`);
      break;
    }
  }
  return blocking;
}

/** Returns the number of ready pods behind a Service. */
export async function readyPods({ client }: Cluster, namespace: string, service: string): Promise<number> {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  const slices = await client.list(EndpointSlice, { namespace, labelSelector });
  return slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
    .length;
}

function leaseOf({ metadata }: Pick<KubeObject, "metadata">): { lease?: LeaseName } {
  const [namespace, name] = metadata.annotations?.[LEASE_ANNOTATION]?.split("/") ?? [];
  return namespace === undefined || name === undefined ? {} : { lease: { namespace, name } };
}

/**
 * Returns an operator's declarations with the conversions as they are in the cluster, because
 * {@linkcode register} changes those separately.
 */
export async function withLiveConversion(cluster: Cluster, facts: OperatorFacts): Promise<OperatorFacts> {
  const crd = await Promise.all(facts.manifests.crd.map(async (one) => {
    if (conversionOf(one) === undefined) return one;
    const live = await ifFound(() => cluster.client.get(CustomResourceDefinition, one.metadata.name));
    const { conversion: _, ...spec } = one.spec as typeof one.spec & { readonly conversion?: unknown };
    const { conversion } = (live?.spec ?? {}) as { readonly conversion?: unknown };
    return { ...one, spec: { ...spec, ...(conversion === undefined ? {} : { conversion }) } } as typeof one;
  }));
  return { ...facts, manifests: { ...facts.manifests, crd } };
}

interface ClientConfig {
  readonly url?: string;
  readonly caBundle?: string;
  readonly service?: { readonly path?: string };
}

interface WebhookEntry {
  readonly clientConfig: ClientConfig;
}

interface WebhookConversion {
  readonly webhook: { readonly clientConfig: ClientConfig };
}

/** Returns whether a kind is one of the webhook configurations. */
export function isWebhookConfiguration(kind: string): boolean {
  return (KINDS as readonly string[]).includes(kind);
}

function conversionOf({ spec }: { readonly spec: unknown }): WebhookConversion | undefined {
  const { conversion } = spec as { readonly conversion?: { readonly strategy: string } & WebhookConversion };
  return conversion?.strategy === "Webhook" ? conversion : undefined;
}

/**
 * Returns the name of the configuration of `op dev`. The installed configuration has another name.
 */
function devName(operator: string): string {
  return `${operator}-dev`;
}

function configuration(
  { apiVersion, kind, name }: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  webhooks: readonly unknown[],
  { lease }: WebhookAddress,
): PlainObject {
  const annotations = lease === undefined
    ? {}
    : { annotations: { [LEASE_ANNOTATION]: `${lease.namespace}/${lease.name}` } };
  return {
    apiVersion,
    kind,
    metadata: { name: devName(name), labels: { [DEV_LABEL]: name }, ...annotations },
    webhooks,
  } as PlainObject;
}

function clientAt({ url, caCert }: WebhookAddress, path: string): ClientConfig {
  return { url: url.replace(/\/$/, "") + path, caBundle: btoa(caCert) };
}

async function apply(cluster: Cluster, object: PlainObject): Promise<boolean> {
  const kind = await cluster.kindOf(object);
  const { name } = object.metadata;
  try {
    const before: KubeObject | undefined = await ifFound(() => cluster.client.get(kind, name));
    const after: KubeObject = await cluster.client.apply(kind, object, { manager: DEV_MANAGER, force: true });
    return before?.metadata.resourceVersion !== after.metadata.resourceVersion;
  } catch (error) {
    throw applyFailure(error, `${object.kind} ${name}`);
  }
}

async function remove(cluster: Cluster, kind: string, operator: string): Promise<boolean> {
  if (await ownConfiguration(cluster, kind, operator) === undefined) return false;
  const type = await cluster.kindOf({ apiVersion: API, kind });
  return await ifFound(async () => {
    await cluster.client.delete(type, devName(operator));
    return true;
  }) ?? false;
}

/**
 * Returns the registered configuration, unless it belongs to another owner or the user may not read
 * it.
 */
async function ownConfiguration(cluster: Cluster, kind: string, operator: string): Promise<KubeObject | undefined> {
  const type = await cluster.kindOf({ apiVersion: API, kind });
  const live: KubeObject | undefined = await ifReadable(() => cluster.client.get(type, devName(operator)));
  return live?.metadata.labels?.[DEV_LABEL] === operator ? live : undefined;
}

async function redirectConversion(
  { client }: Cluster,
  name: string,
  address: WebhookAddress,
  path: string,
): Promise<boolean> {
  const clientConfig = clientAt(address, path);
  const { lease } = address;
  const live = await client.get(CustomResourceDefinition, name);
  const now = (live.spec.conversion ?? { strategy: "None" }) as
    & { readonly strategy: string }
    & Partial<WebhookConversion>;
  const { url, caBundle } = now.webhook?.clientConfig ?? {};
  if (url === clientConfig.url && caBundle === clientConfig.caBundle) return false;
  const { annotations, resourceVersion } = live.metadata;
  const before = annotations?.[PREVIOUS_CONVERSION] ?? JSON.stringify(now);
  await client.patch(CustomResourceDefinition, name, {
    metadata: {
      resourceVersion,
      annotations: {
        [PREVIOUS_CONVERSION]: before,
        [LEASE_ANNOTATION]: lease === undefined ? null : `${lease.namespace}/${lease.name}`,
      },
    },
    spec: {
      conversion: {
        strategy: "Webhook",
        webhook: { clientConfig: { service: null, ...clientConfig }, conversionReviewVersions: ["v1"] },
      },
    },
  });
  return true;
}

async function restoreConversion({ client }: Cluster, name: string): Promise<boolean> {
  const live = await ifFound(() => client.get(CustomResourceDefinition, name));
  const before = live?.metadata.annotations?.[PREVIOUS_CONVERSION];
  if (before === undefined) return false;
  const pathOf = (annotation: string) => `/metadata/annotations/${annotation.replaceAll("/", "~1")}`;
  const annotation = pathOf(PREVIOUS_CONVERSION);
  await client.patch(CustomResourceDefinition, name, [
    { op: "test", path: annotation, value: before },
    { op: "replace", path: "/spec/conversion", value: JSON.parse(before) },
    { op: "remove", path: annotation },
    ...(live?.metadata.annotations?.[LEASE_ANNOTATION] === undefined
      ? []
      : [{ op: "remove", path: pathOf(LEASE_ANNOTATION) }]),
  ], { type: "json" });
  return true;
}
