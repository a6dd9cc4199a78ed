/** The checks of `op doctor` on webhooks: that they are called, by a certificate that is good, and that somebody answers. */
import { X509Certificate } from "node:crypto";
import { EndpointSlice, MutatingWebhookConfiguration, Service, ValidatingWebhookConfiguration } from "@op/sdk/kinds";
import type { Cluster } from "../cluster.ts";
import { counted } from "../plural.ts";
import type { OperatorFacts } from "../inspect.ts";
import { accountOf } from "../run/install.ts";
import { registeredIn } from "../run/webhook_registration.ts";
import { present } from "./checks.ts";
import { type Finding, findings } from "./finding.ts";

// A certificate that is renewed in time has more than that left.
const SOON = 7 * 24 * 3600 * 1000;

/** One webhook as a cluster has it. */
interface Called {
  /** `Configuration/webhook`. */
  readonly name: string;
  readonly caBundle: string | undefined;
  readonly service: string | undefined;
}

/** The webhooks of the operator are there, can be trusted, and answer. */
export async function webhooks(cluster: Cluster, facts: OperatorFacts, now: number): Promise<Finding[]> {
  const { client } = cluster;
  const { good, wrong } = findings("webhooks");
  const developed = (await registeredIn(cluster, facts)).map(({ shown }) =>
    findings("webhooks").doubtful(
      `${shown} calls a machine on which the operator is developed: if "op dev" does not run there any longer, its next start takes that back`,
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
  if (declared.length === 0 && live.length === 0) return [...developed, good("the operator has none")];
  const called = live.flatMap(({ metadata, webhooks = [] }) =>
    webhooks.map(({ name, clientConfig: { caBundle, service } }): Called => ({
      name: `${metadata.name}/${name}`,
      caBundle,
      service: service?.namespace === namespace ? service.name : undefined,
    }))
  );
  const services = [...new Set(called.flatMap(({ service }) => service ?? []))];
  return [
    ...developed,
    ...missing.map(({ kind, metadata }) => wrong(`${kind} ${metadata.name} is not installed: op deploy`)),
    ...called.length === 0 ? [] : [good(`${called.length} are called`)],
    ...called.map((one) => certificate(one, now)),
    ...(await Promise.all(services.map((name) => answers({ client } as Cluster, namespace, name)))),
  ];
}

/** The authority by which a webhook is trusted, as long as it is good. */
function certificate({ name, caBundle }: Called, now: number): Finding {
  const { good, wrong, doubtful } = findings("certificate");
  if (!caBundle) return wrong(`${name} has no authority: nobody can be trusted, and each call fails`);
  let ends: number[];
  try {
    const pems = atob(caBundle).match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
    ends = pems.map((pem) => Date.parse(new X509Certificate(pem).validTo));
  } catch {
    ends = [];
  }
  // Of several, as while one takes the place of another, it is enough that one is good.
  const last = Math.max(...ends);
  if (ends.length === 0 || Number.isNaN(last)) return wrong(`${name}: its authority is no certificate`);
  const day = new Date(last).toISOString().slice(0, 10);
  if (last < now) return wrong(`${name}: its authority ended on ${day}: each call fails`);
  return last - now < SOON
    ? doubtful(`${name}: its authority ends on ${day}`)
    : good(`${name}: its authority is good until ${day}`);
}

async function answers({ client }: Cluster, namespace: string, name: string): Promise<Finding> {
  const { good, wrong } = findings("webhooks");
  const service = await present(() => client.get(Service, name, { namespace }));
  if (service === undefined) return wrong(`Service ${namespace}/${name}, which they are behind, is not there`);
  const slices = await client.list(EndpointSlice, { namespace, labelSelector: `kubernetes.io/service-name=${name}` });
  const ready = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) =>
    conditions?.ready !== false
  );
  return ready.length === 0
    ? wrong(`nobody answers behind Service ${namespace}/${name}: does the operator run, and is it ready?`)
    : good(`${counted(ready.length, "pod answers", "pods answer")} behind Service ${namespace}/${name}`);
}
