/**
 * The manifests of an operator's webhooks: the configurations, the conversion in definitions, the
 * Service, and cert-manager's objects.
 */
import { compile, type Parts } from "../parts/part_types.ts";
import { needsRunner } from "../parts/units.ts";
import { CONVERSION_PATH, webhookEntries, type WebhookPhase } from "../parts/webhook_entries.ts";
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { labelsOf, type Manifest } from "./manifest.ts";

/** Where the API server calls the webhooks: the operator's Service or a URL. */
export type WebhookPlace =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  | { readonly url: string };

/** Options of {@linkcode webhookConfigurations}. */
export interface WebhookConfigurationOptions {
  readonly place: WebhookPlace;
  /**
   * The operator's own namespace. Webhooks are not called for objects in it, unless they set
   * `allNamespaces`.
   */
  readonly namespace?: string;
  /**
   * The user of the operator, for webhooks that ignore its requests. @default {the service account
   * of its name in `namespace`}
   */
  readonly user?: string;
  /** The cert-manager certificate whose authority is injected: `namespace/name`. */
  readonly injectFrom?: string;
  /**
   * The certificate authority, as PEM. Absent in files under version control, because the operator
   * maintains it.
   */
  readonly caBundle?: string;
}

const KINDS = { mutate: "MutatingWebhookConfiguration", validate: "ValidatingWebhookConfiguration" } as const;

/** cert-manager injects the authority of a certificate into objects with this annotation. */
const INJECT = "cert-manager.io/inject-ca-from";

/** Returns the name of an operator's webhook configurations, one of each of the two kinds. */
export function configurationName(operator: string): string {
  return operator;
}

/** Returns the name of the Service of an operator's webhooks. */
export function webhookService(operator: string): string {
  return `${operator}-webhook`;
}

/**
 * Returns the webhook configurations of an operator: one for mutating webhooks and one for
 * validating ones, if there are any.
 *
 * @param operator The operator's name.
 * @param parts The operator's parts.
 * @param options Where the API server calls them.
 * @throws {TypeError} If a webhook ignores the operator's own requests, and the operator's user is
 *   unknown.
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
  const [ignoreOwnRequests] = [...compile(parts).webhooks].find(([, webhook]) => webhook.ignoreOwnRequests) ?? [];
  if (ignoreOwnRequests !== undefined && (user ?? namespace) === undefined) {
    throw new TypeError(
      `Webhook configurations of "${operator}": webhook "${ignoreOwnRequests}" has "ignoreOwnRequests", so the operator's user must be known. Set "namespace" to the namespace that the operator runs in.`,
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
 * Returns definitions with the conversions that parts declare. Definitions without a conversion are
 * not changed.
 *
 * @param crds The definitions.
 * @param parts The operator's parts.
 * @param options Where the API server calls the webhooks.
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

/** Returns the names of the definitions with conversions. */
export function convertedDefinitions(parts: Parts): ReadonlySet<string> {
  return new Set([...compile(parts).conversions.values()].map(({ kind }) => `${kind.plural}.${kind.group}`));
}

/** Returns the Service of the webhooks, or an empty list if there are none. */
export function webhookServices(operator: string, parts: Parts, namespace: string): Manifest[] {
  if (!needsRunner(compile(parts), "webhookServer")) return [];
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
 * Returns cert-manager's objects for the webhooks: a self-signed authority, and a certificate that
 * it signs, in the Secret that the pod mounts.
 *
 * @param operator The operator's name.
 * @param namespace The namespace of the operator.
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

/** Returns the DNS names of a Service. The API server uses the first. */
export function serviceNames(service: string, namespace: string): string[] {
  return [`${service}.${namespace}.svc`, `${service}.${namespace}`, `${service}.${namespace}.svc.cluster.local`];
}

/** Returns the name of the Secret with the certificate of an operator's webhooks. */
export function certificateSecret(operator: string): string {
  return `${operator}-webhook`;
}

function clientConfig(place: WebhookPlace, path: string, caBundle: string | undefined): ClientConfig {
  const authority = caBundle === undefined ? {} : { caBundle: btoa(caBundle) };
  if ("url" in place) return { url: `${place.url.replace(/\/$/, "")}${path}`, ...authority };
  // Set explicitly to the server's default, so that an applied object equals the stored one.
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
