/** Webhooks as their configurations have them (`admissionregistration.k8s.io/v1`). */
import type { LabelSelector } from "../objects/label_selector.ts";
import type { Store } from "../objects/store.ts";

/** What a rule of a webhook matches. */
export interface WebhookRule {
  readonly operations?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly apiVersions?: readonly string[];
  readonly resources?: readonly string[];
  readonly scope?: string;
}

/** Where a webhook is. */
export interface ClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Base64 of PEM. */
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

/** The webhooks of a phase, by the names of their configurations. */
export function webhooksOf(store: Store, phase: keyof typeof COLLECTIONS): readonly Webhook[] {
  return store.list(COLLECTIONS[phase]).flatMap(({ webhooks }) => (webhooks ?? []) as readonly Webhook[]);
}
