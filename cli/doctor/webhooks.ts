/**
 * The checks of `op doctor` on webhooks: their configuration, their certificate, and the pods that
 * serve them.
 */
import { X509Certificate } from "node:crypto";
import { MutatingWebhookConfiguration, Service, ValidatingWebhookConfiguration } from "@op/sdk/kinds";
import { type Cluster, ifFound } from "../cluster.ts";
import { counted } from "../plural.ts";
import type { OperatorFacts } from "../inspect.ts";
import { accountOf } from "../run/install.ts";
import { readyPods, registeredIn } from "../run/webhook_registration.ts";
import { type Finding, findings } from "./finding.ts";

/**
 * A certificate authority that expires within this time is reported, in milliseconds. Operators
 * renew theirs earlier.
 */
const EXPIRY_WARNING = 7 * 24 * 3600 * 1000;

/** A webhook in a cluster. */
interface LiveWebhook {
  /** The names of the configuration and the webhook: `CONFIGURATION/WEBHOOK`. */
  readonly name: string;
  readonly caBundle: string | undefined;
  readonly service: string | undefined;
}

/** Checks that the operator's webhooks are configured, trusted and served. */
export async function webhooks(cluster: Cluster, facts: OperatorFacts, now: number): Promise<Finding[]> {
  const { client } = cluster;
  const { ok, error, warning } = findings("webhooks");
  const devRegistrations = (await registeredIn(cluster, facts)).map(({ shown }) =>
    warning(
      `${shown} calls an "op dev" on a developer's machine. If that has ended, the next "op dev" or "op deploy" removes it.`,
    )
  );
  const { namespace } = accountOf(facts);
  const groups = facts.manifests as unknown as Readonly<
    Record<string, readonly { readonly kind?: string; readonly metadata: { readonly name: string } }[]>
  >;
  const declared = Object.values(groups).flat().filter(({ kind }) => kind?.endsWith("WebhookConfiguration"));
  const configurations = [
    ...await client.list(MutatingWebhookConfiguration),
    ...await client.list(ValidatingWebhookConfiguration),
  ];
  const live = configurations.filter(({ metadata, webhooks = [] }) =>
    declared.some((one) => one.metadata.name === metadata.name) ||
    webhooks.some(({ clientConfig }) => clientConfig.service?.namespace === namespace)
  );
  const missing = declared.filter(({ metadata }) => !live.some((one) => one.metadata.name === metadata.name));
  if (declared.length === 0 && live.length === 0) return [...devRegistrations, ok("the operator has no webhooks")];
  const called = live.flatMap(({ metadata, webhooks = [] }) =>
    webhooks.map(({ name, clientConfig: { caBundle, service } }): LiveWebhook => ({
      name: `${metadata.name}/${name}`,
      caBundle,
      service: service?.namespace === namespace ? service.name : undefined,
    }))
  );
  const services = [...new Set(called.flatMap(({ service }) => service ?? []))];
  return [
    ...devRegistrations,
    // A running op dev registers configurations of its own.
    ...missing.map(({ kind, metadata }) =>
      (devRegistrations.length === 0 ? error : warning)(`${kind} ${metadata.name} is not installed. Run "op deploy".`)
    ),
    ...called.length === 0 ? [] : [ok(`${counted(called.length, "webhook is", "webhooks are")} configured`)],
    ...called.map((one) => certificate(one, now)),
    ...(await Promise.all(services.map((name) => endpoints(cluster, namespace, name)))),
  ];
}

/** Checks the certificate authority of a webhook. */
function certificate({ name, caBundle }: LiveWebhook, now: number): Finding {
  const { ok, error, warning } = findings("certificate");
  if (!caBundle) return error(`${name} has no certificate authority, so every call fails`);
  let ends: number[];
  try {
    const pems = atob(caBundle).match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
    ends = pems.map((pem) => Date.parse(new X509Certificate(pem).validTo));
  } catch {
    ends = [];
  }
  // During the replacement of an authority there are several, and one of them must be valid.
  const last = Math.max(...ends);
  if (ends.length === 0 || Number.isNaN(last)) return error(`${name}: its certificate authority cannot be parsed`);
  const day = new Date(last).toISOString().slice(0, 10);
  if (last < now) return error(`${name}: its certificate authority expired on ${day}, so every call fails`);
  return last - now < EXPIRY_WARNING
    ? warning(`${name}: its certificate authority expires on ${day}`)
    : ok(`${name}: its certificate authority is valid until ${day}`);
}

async function endpoints(cluster: Cluster, namespace: string, name: string): Promise<Finding> {
  const { ok, error } = findings("webhooks");
  const service = await ifFound(() => cluster.client.get(Service, name, { namespace }));
  if (service === undefined) return error(`Service ${namespace}/${name}, which the webhooks call, does not exist`);
  const ready = await readyPods(cluster, namespace, name);
  return ready === 0
    ? error(`Service ${namespace}/${name} has no ready pods. Check that the operator runs and is ready.`)
    : ok(`Service ${namespace}/${name} has ${counted(ready, "ready pod")}`);
}
