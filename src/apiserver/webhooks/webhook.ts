/** Webhooks in webhook configurations (`admissionregistration.k8s.io/v1`). */
import type { LabelSelector } from "../objects/label_selector.ts";
import type { Store } from "../objects/store.ts";

/** A rule of a webhook. */
export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/** The address of a webhook: a URL, or a Service of the cluster. */
export interface ClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in base64. */
  readonly caBundle?: string;
}

/** A webhook of a configuration. */
export interface Webhook {
  readonly name: string;
  readonly clientConfig: ClientConfig;
  readonly rules?: readonly WebhookRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

const GROUP = "admissionregistration.k8s.io";
const COLLECTIONS = {
  mutate: `${GROUP}/mutatingwebhookconfigurations`,
  validate: `${GROUP}/validatingwebhookconfigurations`,
} as const;

/** Returns the webhooks of a phase, in the order of their configurations' names. */
export function webhooksOf(store: Store, phase: keyof typeof COLLECTIONS): readonly Webhook[] {
  return store.list(COLLECTIONS[phase]).flatMap(({ webhooks }) => (webhooks ?? []) as readonly Webhook[]);
}
