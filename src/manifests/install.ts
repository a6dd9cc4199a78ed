/** Where and how an operator is installed. */
import { imageOf, type ImageParts } from "./image.ts";

/** An RBAC rule, as in `rbac.authorization.k8s.io/v1`. */
export interface AdditionalPolicyRule {
  /** The API groups: `""` is the core group, `*` all groups. */
  readonly apiGroups: readonly string[];
  /** Plural names, followed by a slash and the subresource if there is one: `pods`, `pods/log`. */
  readonly resources: readonly string[];
  /** The names of the objects that the rule applies to. @default {all objects} */
  readonly resourceNames?: readonly string[];
  /** The verbs: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, or `*`. */
  readonly verbs: readonly string[];
}

/** The source of the webhook certificate. */
export type CertificateSource = NonNullable<InstallOptions["certificates"]>;

/** All sources of the webhook certificate. */
export const CERTIFICATE_SOURCES: readonly CertificateSource[] = ["self", "cert-manager", "files"];

/** Where and how an operator is installed: options that are not in its code. */
export interface InstallOptions {
  /**
   * Identifies the operator among others of the same name: every installed object carries it as the
   * label `op/operator-id`, and `op deploy` does not change objects that carry another one. A label
   * value of at most 63 characters that never changes; `op new` generates a UUID.
   * @default {none: the objects carry the operator's name only}
   */
  readonly id?: string;
  /** The namespace that the operator runs in. @default {`<name>-system`} */
  readonly namespace?: string;
  /** The namespaces to watch. The roles are limited to them. @default {all} */
  readonly watchNamespaces?: readonly string[];
  /**
   * RBAC rules in addition to the generated ones, for calls that do not use the context. @default
   * {[]}
   */
  readonly policies?: readonly AdditionalPolicyRule[];
  /**
   * The source of the webhook certificate. `self`: the operator issues and renews it.
   * `cert-manager`: cert-manager issues and renews it. `files`: the operator reads it from files
   * that are mounted from your Secret `<name>-webhook`. @default {"self"}
   */
  readonly certificates?: "self" | "cert-manager" | "files";
  /**
   * The URL at which the API server calls the webhooks, without a path, such as
   * `https://127.0.0.1:9443`: for tests on a real API server, and for operators outside the
   * cluster. Add its host to `certSANs` of the option `webhooks`, so that the certificate includes
   * it.
   * @default {the Service}
   */
  readonly webhookUrl?: string;
  /** The image of the executable. @default {built from `imageParts`} */
  readonly image?: string;
  /** The parts of the image's name. @default {`<name>:<version>`} */
  readonly imageParts?: ImageParts;
  /** The Git tag or short hash that replaces the placeholder in the image's tag. */
  readonly commit?: string;
}

/** The options with defaults applied. */
export interface Install {
  /** `undefined` for an operator that is identified by its name only. */
  readonly id: string | undefined;
  readonly namespace: string;
  /** `undefined` for all namespaces. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly policies: readonly AdditionalPolicyRule[];
  readonly certificates: CertificateSource;
  /** Without a trailing slash. `undefined` if the API server calls the Service. */
  readonly webhookUrl: string | undefined;
  readonly image: string;
}

// apimachinery validation.IsValidLabelValue, but not empty.
const ID = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

// RFC 1123: valid names of namespaces.
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Applies the defaults.
 *
 * @param operator The operator.
 * @param options The options.
 * @throws {TypeError} If a namespace is invalid or a rule is incomplete.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const { namespace, image } = installOf({ name: "shop", version: "1.2.0" }, {});
 * assert.deepEqual([namespace, image], ["shop-system", "shop:1.2.0"]);
 * ```
 */
export function installOf(
  { name, version }: { readonly name: string; readonly version: string },
  options: InstallOptions,
): Install {
  const {
    id,
    namespace = `${name}-system`,
    watchNamespaces,
    policies = [],
    certificates = "self",
    webhookUrl,
    imageParts = {},
    commit,
  } = options;
  const { image = imageOf(imageParts, { name, version, commit }) } = options;
  if (id !== undefined && !ID.test(id)) {
    throw new TypeError(
      `Cannot install operator "${name}": its ID "${id}" is not a valid label value. Use at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit.`,
    );
  }
  for (const each of [namespace, ...watchNamespaces ?? []]) {
    if (!NAMESPACE.test(each)) {
      throw new TypeError(
        `Cannot install operator "${name}": "${each}" is not the name of a namespace. Use at most 63 lowercase letters, digits and dashes, beginning and ending with a letter or digit.`,
      );
    }
  }
  if (!CERTIFICATE_SOURCES.includes(certificates)) {
    throw new TypeError(
      `Cannot install operator "${name}": "certificates" must be one of ${
        CERTIFICATE_SOURCES.join(", ")
      }, got "${certificates}".`,
    );
  }
  policies.forEach((policy) => checkPolicy(name, policy));
  if (webhookUrl !== undefined) checkWebhookUrl(name, webhookUrl);
  if (image === "" || /\s/.test(image)) {
    throw new TypeError(
      `Cannot install operator "${name}": "${image}" is not an image. Write it as "registry/name:tag".`,
    );
  }
  return {
    id,
    namespace,
    watchNamespaces: watchNamespaces?.length === 0 ? undefined : watchNamespaces,
    policies,
    certificates,
    webhookUrl: webhookUrl?.replace(/\/$/, ""),
    image,
  };
}

/**
 * Rejects URLs that the API server would reject (`k8s.io/apiserver/pkg/util/webhook`,
 * ValidateWebhookURL).
 */
function checkWebhookUrl(operator: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" && url.username === "" && !/[?#]/.test(text)) return;
  throw new TypeError(
    `Cannot install operator "${operator}": "webhookUrl" is invalid: "${text}". Write it as "https://host:port", without user, query and fragment.`,
  );
}

function checkPolicy(operator: string, policy: AdditionalPolicyRule): void {
  for (const key of ["apiGroups", "resources", "verbs"] as const) {
    const list: unknown = policy[key];
    if (Array.isArray(list) && list.length > 0 && list.every((value) => typeof value === "string")) continue;
    throw new TypeError(
      `Cannot install operator "${operator}": "${key}" of a policy must be a list with at least one string, got ${
        JSON.stringify(policy)
      }.${key === "apiGroups" ? ' The core group is "".' : ""}`,
    );
  }
}
