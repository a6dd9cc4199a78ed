/**
 * Tells a cluster to call the webhooks of an operator that is developed on this machine, and takes that back: configurations under a name of their own,
 * and the conversion of definitions, whose stanza of before is kept in an annotation of theirs. So whoever comes next can put all back, also after a
 * process that was killed.
 */
import { ConfigMap, CustomResourceDefinition } from "@op/sdk/kinds";
import { ApiError, type KubeObject } from "@op/sdk";
import type { Manifest } from "@op/sdk/operator";
import { applyFailure, type Cluster } from "../cluster.ts";
import { MANAGER } from "../field_manager.ts";
import type { OperatorFacts } from "../inspect.ts";
import type { PlainObject } from "../objects.ts";
import type { LeasePlace } from "./dev_lease.ts";
import { REACHED_PATH } from "./webhook_front.ts";

/** Where the API server finds the webhooks. */
export interface WebhookAddress {
  /** Without a path. */
  readonly url: string;
  /** The authority by which it is known, as PEM. */
  readonly caCert: string;
  /** The Lease of the `op dev` there. */
  readonly lease?: LeasePlace;
}

/** Something in a cluster that calls a machine on which the operator is developed. */
export interface Registration {
  /** As messages name it: `the conversion of notes.demo.example.com`. */
  readonly shown: string;
  /** The name of the definition, if it is a conversion. */
  readonly definition?: string;
  /** The Lease of the `op dev` that registered it. */
  readonly lease?: LeasePlace;
}

type Facts = {
  readonly name: string;
  readonly manifests: Pick<OperatorFacts["manifests"], "crd" | "webhook">;
};

/** What a definition's conversion was before; an operator in the cluster leaves one with it alone. */
const BEFORE = "op/dev-conversion-before";
/** Names the Lease of the `op dev` that registered the object: `namespace/name`. */
const LEASE = "op/dev-lease";
const LABEL = "op/dev";
const API = "admissionregistration.k8s.io/v1";
const KINDS = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] as const;
/** The server hears of a configuration within a second; it is asked for longer than that. */
const TRIES = 100;
const BETWEEN_TRIES = 100;

/** Whether the API server is to call it. */
export function isCalled({ manifests: { webhook, crd } }: Facts): boolean {
  return webhook.some(({ kind }) => isConfiguration(kind)) || crd.some((one) => stanzaOf(one) !== undefined);
}

/**
 * The configurations of an operator's webhooks, calling an address in place of its Service.
 *
 * @param facts The operator's own account.
 * @param address The address.
 */
export function configurationsAt({ name, manifests }: Facts, address: WebhookAddress): PlainObject[] {
  return manifests.webhook.filter(({ kind }) => isConfiguration(kind)).map((manifest: Manifest) => {
    const { apiVersion, kind, webhooks } = manifest as Manifest & { readonly webhooks: readonly Entry[] };
    return configuration(
      { apiVersion, kind, name },
      webhooks.map((entry) => ({ ...entry, clientConfig: clientAt(address, entry.clientConfig.service?.path ?? "") })),
      address,
    );
  });
}

/**
 * Finds out whether the API server reaches an address: a webhook is registered that is asked about nothing but one object, which is never stored.
 *
 * @param facts The operator's own account.
 * @param address The address, where {@linkcode REACHED_PATH} is answered.
 * @param hasHeard Whether it was asked.
 * @returns What the API server says against it; nothing where it was asked.
 */
export async function unreachable(
  cluster: Cluster,
  { name }: Facts,
  address: WebhookAddress,
  hasHeard: () => boolean,
): Promise<string | undefined> {
  const mark = { [LABEL]: crypto.randomUUID() };
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
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const object = { metadata: { generateName: `${name}-`, labels: mark } };
      await cluster.client.create(ConfigMap, object, { namespace, dryRun: true });
    } catch (error) {
      // The server's last words say why: no route, no such name, a certificate that it does not trust.
      return (error as Error).message;
    }
    if (hasHeard()) return undefined;
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES));
  }
  return "the API server did not ask";
}

/**
 * Has the API server call an address: configurations are applied, what is no longer declared is taken out, conversions are pointed there.
 *
 * @returns What was created or changed.
 */
export async function register(cluster: Cluster, facts: Facts, address: WebhookAddress): Promise<string[]> {
  const changed: string[] = [];
  const wanted = configurationsAt(facts, address);
  for (const kind of KINDS) {
    const object = wanted.find((one) => one.kind === kind);
    const isChanged = object === undefined ? await remove(cluster, kind, facts.name) : await apply(cluster, object);
    if (isChanged) changed.push(`${kind} ${nameOf(facts.name)}`);
  }
  for (const crd of facts.manifests.crd) {
    const stanza = stanzaOf(crd);
    if (stanza === undefined) continue;
    const { path = "" } = stanza.webhook.clientConfig.service ?? {};
    const { name } = crd.metadata;
    if (await convertAt(cluster, name, address, path)) changed.push(`the conversion of ${name}`);
  }
  return changed;
}

/**
 * Takes back what {@linkcode register} told, whoever did that.
 *
 * @returns What was there.
 */
export async function unregister(
  cluster: Cluster,
  { name, manifests }: { readonly name: string; readonly manifests: Pick<OperatorFacts["manifests"], "crd"> },
): Promise<string[]> {
  const gone: string[] = [];
  for (const kind of KINDS) if (await remove(cluster, kind, name)) gone.push(`${kind} ${nameOf(name)}`);
  for (const { metadata } of manifests.crd) {
    if (await convertAsBefore(cluster, metadata.name)) gone.push(`the conversion of ${metadata.name}`);
  }
  return gone;
}

/**
 * Returns what {@linkcode register} registered and nobody took back.
 *
 * @param cluster The cluster.
 * @param facts The operator's name and definitions.
 */
export async function registeredIn(
  cluster: Cluster,
  { name, manifests }: { readonly name: string; readonly manifests: Pick<OperatorFacts["manifests"], "crd"> },
): Promise<Registration[]> {
  const there: Registration[] = [];
  for (const kind of KINDS) {
    const live = await ownLive(cluster, kind, name);
    if (live !== undefined) there.push({ shown: `${kind} ${nameOf(name)}`, ...leaseOf(live) });
  }
  for (const { metadata } of manifests.crd) {
    const live = await found(() => cluster.client.get(CustomResourceDefinition, metadata.name));
    if (live?.metadata.annotations?.[BEFORE] === undefined) continue;
    there.push({ shown: `the conversion of ${metadata.name}`, definition: metadata.name, ...leaseOf(live) });
  }
  return there;
}

function leaseOf({ metadata }: Pick<KubeObject, "metadata">): { lease?: LeasePlace } {
  const [namespace, name] = metadata.annotations?.[LEASE]?.split("/") ?? [];
  return namespace === undefined || name === undefined ? {} : { lease: { namespace, name } };
}

/** Definitions whose conversion stays as it is in the cluster: it is another step that changes it. */
export async function withLiveConversion(cluster: Cluster, facts: OperatorFacts): Promise<OperatorFacts> {
  const crd = await Promise.all(facts.manifests.crd.map(async (one) => {
    if (stanzaOf(one) === undefined) return one;
    const live = await found(() => cluster.client.get(CustomResourceDefinition, one.metadata.name));
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

interface Entry {
  readonly clientConfig: ClientConfig;
}

interface Stanza {
  readonly webhook: { readonly clientConfig: ClientConfig };
}

function isConfiguration(kind: string): boolean {
  return (KINDS as readonly string[]).includes(kind);
}

function stanzaOf({ spec }: { readonly spec: unknown }): Stanza | undefined {
  const { conversion } = spec as { readonly conversion?: { readonly strategy: string } & Stanza };
  return conversion?.strategy === "Webhook" ? conversion : undefined;
}

/** Not the name under which the operator is installed: what runs in the cluster stays as it is. */
function nameOf(operator: string): string {
  return `${operator}-dev`;
}

function configuration(
  { apiVersion, kind, name }: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  webhooks: readonly unknown[],
  { lease }: WebhookAddress,
): PlainObject {
  const annotations = lease === undefined ? {} : { annotations: { [LEASE]: `${lease.namespace}/${lease.name}` } };
  return {
    apiVersion,
    kind,
    metadata: { name: nameOf(name), labels: { [LABEL]: name }, ...annotations },
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
    const before: KubeObject | undefined = await found(() => cluster.client.get(kind, name));
    const after: KubeObject = await cluster.client.apply(kind, object, { manager: MANAGER, force: true });
    return before?.metadata.resourceVersion !== after.metadata.resourceVersion;
  } catch (error) {
    throw applyFailure(error, `${object.kind} ${name}`);
  }
}

async function remove(cluster: Cluster, kind: string, operator: string): Promise<boolean> {
  if (await ownLive(cluster, kind, operator) === undefined) return false;
  const type = await cluster.kindOf({ apiVersion: API, kind });
  return await found(async () => {
    await cluster.client.delete(type, nameOf(operator));
    return true;
  }) ?? false;
}

/** The configuration that is registered. Somebody else's object of that name is none, and who may not look has left none. */
async function ownLive(cluster: Cluster, kind: string, operator: string): Promise<KubeObject | undefined> {
  const type = await cluster.kindOf({ apiVersion: API, kind });
  const live: KubeObject | undefined = await found(() => cluster.client.get(type, nameOf(operator)), [403, 404]);
  return live?.metadata.labels?.[LABEL] === operator ? live : undefined;
}

async function convertAt(
  { client }: Cluster,
  name: string,
  address: WebhookAddress,
  path: string,
): Promise<boolean> {
  const clientConfig = clientAt(address, path);
  const { lease } = address;
  const live = await client.get(CustomResourceDefinition, name);
  const now = (live.spec.conversion ?? { strategy: "None" }) as { readonly strategy: string } & Partial<Stanza>;
  const { url, caBundle } = now.webhook?.clientConfig ?? {};
  if (url === clientConfig.url && caBundle === clientConfig.caBundle) return false;
  const { annotations, resourceVersion } = live.metadata;
  const before = annotations?.[BEFORE] ?? JSON.stringify(now);
  await client.patch(CustomResourceDefinition, name, {
    metadata: {
      resourceVersion,
      annotations: { [BEFORE]: before, [LEASE]: lease === undefined ? null : `${lease.namespace}/${lease.name}` },
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

async function convertAsBefore({ client }: Cluster, name: string): Promise<boolean> {
  const live = await found(() => client.get(CustomResourceDefinition, name));
  const before = live?.metadata.annotations?.[BEFORE];
  if (before === undefined) return false;
  const pathOf = (annotation: string) => `/metadata/annotations/${annotation.replaceAll("/", "~1")}`;
  const annotation = pathOf(BEFORE);
  await client.patch(CustomResourceDefinition, name, [
    { op: "test", path: annotation, value: before },
    { op: "replace", path: "/spec/conversion", value: JSON.parse(before) },
    { op: "remove", path: annotation },
    ...(live?.metadata.annotations?.[LEASE] === undefined ? [] : [{ op: "remove", path: pathOf(LEASE) }]),
  ], { type: "json" });
  return true;
}

async function found<T>(read: () => Promise<T>, absent: readonly number[] = [404]): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && absent.includes(error.status)) return undefined;
    throw error;
  }
}
