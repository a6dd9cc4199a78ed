/** What tells a cluster of an operator's webhooks: the configurations, the conversion in definitions, the Service, and cert-manager's objects. */
import { conversionsOf, isCalled, type Parts, webhooksOf } from "../parts/part_list.ts";
import { CONVERSION_PATH, webhookEntries, type WebhookPhase } from "../parts/webhook_entries.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { labelsOf, type Manifest } from "./manifest.ts";

/** Where a cluster finds the webhooks: behind the operator's Service, or at an address. */
export type WebhookPlace =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  | { readonly url: string };

/** Options of {@linkcode webhookConfigurations}. */
export interface WebhookConfigurationOptions {
  readonly place: WebhookPlace;
  /** The operator's own namespace: what is in it is not asked about, unless a webhook says otherwise. */
  readonly namespace?: string;
  /** As whom the operator writes, for webhooks that leave that out. @default {the service account of its name in `namespace`} */
  readonly user?: string;
  /** The certificate of cert-manager whose authority is put in: `namespace/name`. */
  readonly injectFrom?: string;
  /** The authority by which the server is known, as PEM. Absent in what is kept under version control: the operator keeps it up itself. */
  readonly caBundle?: string;
}

const KINDS = { mutate: "MutatingWebhookConfiguration", validate: "ValidatingWebhookConfiguration" } as const;

/** cert-manager puts the authority of a certificate into what has this annotation. */
const INJECT = "cert-manager.io/inject-ca-from";

/** The name of an operator's configurations of webhooks: one of each of the two kinds. */
export function configurationName(operator: string): string {
  return operator;
}

/** The name of the Service in front of an operator's webhooks. */
export function webhookService(operator: string): string {
  return `${operator}-webhook`;
}

/**
 * The configurations of an operator's webhooks: one for those that change, one for those that validate, as far as there are any.
 *
 * @param operator The operator's name.
 * @param parts Its parts.
 * @param options Where they are.
 * @throws {TypeError} If a webhook leaves out what the operator itself writes, and it is not said as whom.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { webhook } from "@op/sdk";
 * import { Pod } from "@op/sdk/kinds";
 *
 * const parts = { pods: webhook(Pod, { validate() {} }) };
 * const [configuration] = webhookConfigurations("guard", parts, { place: { url: "https://127.0.0.1:9443" } });
 * assert.equal(configuration?.kind, "ValidatingWebhookConfiguration");
 * ```
 */
export function webhookConfigurations(
  operator: string,
  parts: Parts,
  { place, namespace, user, injectFrom, caBundle }: WebhookConfigurationOptions,
): Manifest[] {
  const [ignoreOwnRequests] = webhooksOf(parts).find(([, webhook]) => webhook.ignoreOwnRequests) ?? [];
  if (ignoreOwnRequests !== undefined && (user ?? namespace) === undefined) {
    throw new TypeError(
      `Cannot make the configurations of "${operator}": "${ignoreOwnRequests}" leaves out what the operator itself writes: say the "namespace" that it runs in`,
    );
  }
  const entries = webhookEntries(operator, parts, namespace, user);
  return (["mutate", "validate"] as const).flatMap((phase: WebhookPhase): Manifest[] => {
    const own = entries.filter((entry) => entry.phase === phase);
    if (own.length === 0) return [];
    return [{
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: KINDS[phase],
      metadata: {
        name: configurationName(operator),
        labels: labelsOf(operator),
        ...(injectFrom === undefined ? {} : { annotations: { [INJECT]: injectFrom } }),
      },
      webhooks: own.map(({ fields, path }) => ({
        ...fields,
        clientConfig: clientConfig(place, path, caBundle),
      })),
    }];
  });
}

/**
 * Definitions with the conversions that parts declare. Those that nobody converts stay as they are.
 *
 * @param crds The definitions.
 * @param parts The operator's parts.
 * @param options Where the webhooks are.
 */
export function withConversion(
  crds: readonly CustomResourceDefinitionManifest[],
  parts: Parts,
  { place, injectFrom, caBundle }: Omit<WebhookConfigurationOptions, "namespace" | "user">,
): CustomResourceDefinitionManifest[] {
  const converted = convertedDefinitions(parts);
  return crds.map((crd) => {
    if (!converted.has(crd.metadata.name)) return crd;
    return {
      ...crd,
      metadata: {
        ...crd.metadata,
        ...(injectFrom === undefined ? {} : { annotations: { ...crd.metadata.annotations, [INJECT]: injectFrom } }),
      },
      spec: {
        ...crd.spec,
        conversion: {
          strategy: "Webhook",
          webhook: {
            clientConfig: clientConfig(place, CONVERSION_PATH, caBundle),
            conversionReviewVersions: ["v1"],
          },
        },
      },
    };
  });
}

/** The names of the definitions whose versions are converted. */
export function convertedDefinitions(parts: Parts): ReadonlySet<string> {
  return new Set(conversionsOf(parts).map(([, { kind }]) => `${kind.plural}.${kind.group}`));
}

/** The Service through which a cluster calls the webhooks. There is none where nothing is called. */
export function webhookServices(operator: string, parts: Parts, namespace: string): Manifest[] {
  if (!isCalled(parts)) return [];
  return [{
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: webhookService(operator), namespace, labels: labelsOf(operator) },
    spec: {
      selector: labelsOf(operator),
      ports: [{ name: "webhook", port: 443, targetPort: "webhook", protocol: "TCP" }],
    },
  }];
}

/**
 * cert-manager's objects for the webhooks: an authority that signs itself, and a certificate by it in the Secret that the pod mounts.
 *
 * @param operator The operator's name.
 * @param namespace Where it is.
 */
export function certManagerManifests(operator: string, namespace: string): Manifest[] {
  const metadata = { name: webhookService(operator), namespace, labels: labelsOf(operator) };
  const apiVersion = "cert-manager.io/v1";
  return [
    { apiVersion, kind: "Issuer", metadata, spec: { selfSigned: {} } },
    {
      apiVersion,
      kind: "Certificate",
      metadata,
      spec: {
        secretName: certificateSecret(operator),
        dnsNames: serviceNames(webhookService(operator), namespace),
        issuerRef: { kind: "Issuer", name: metadata.name },
        privateKey: { algorithm: "ECDSA", size: 256, rotationPolicy: "Always" },
      },
    },
  ];
}

/** The names by which a Service is called. The API server uses the first. */
export function serviceNames(service: string, namespace: string): string[] {
  return [`${service}.${namespace}.svc`, `${service}.${namespace}`, `${service}.${namespace}.svc.cluster.local`];
}

/** The Secret with the certificate of an operator's webhooks. */
export function certificateSecret(operator: string): string {
  return `${operator}-webhook`;
}

function clientConfig(place: WebhookPlace, path: string, caBundle: string | undefined): ClientConfig {
  const authority = caBundle === undefined ? {} : { caBundle: btoa(caBundle) };
  if ("url" in place) return { url: `${place.url.replace(/\/$/, "")}${path}`, ...authority };
  // Said, since the server fills it in: what is applied comes back equal.
  return { service: { port: 443, ...place.service, path }, ...authority };
}

type ClientConfig =
  & { readonly caBundle?: string }
  & (
    | { readonly url: string }
    | {
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        readonly path: string;
        readonly port: number;
      };
    }
  );
