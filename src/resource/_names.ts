/** Validates the names of a kind. */
import { rejectKind } from "./_kind_error.ts";

const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/; // a DNS label that starts with a letter, RFC 1035
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/; // a DNS subdomain of at least two labels, RFC 1123
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;
const MAX_NAME_LENGTH = 253;

/** The complete names of a kind. */
export interface Names {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** Other properties of a kind that affect the validation of its names. */
export interface NameOptions {
  /** Annotations of the CustomResourceDefinition. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
}

/**
 * Validates the names of a kind as apiextensions.k8s.io/v1 does.
 *
 * @param names The names.
 * @param options Additional options.
 * @throws {TypeError} If an API server would reject one of them.
 */
export function checkNames(names: Names, { annotations = {} }: NameOptions = {}): void {
  const { group, version, kind, plural, singular, listKind, shortNames, categories } = names;
  for (const [key, name] of [["kind", kind], ["listKind", listKind]] as const) {
    if (KIND.test(name)) continue;
    rejectKind(kind, `"${key}" must be in CamelCase with at most 63 letters and digits, got "${name}"`);
  }
  if (!SUBDOMAIN.test(group)) {
    rejectKind(
      kind,
      `"group" must be a domain name in lower case with a dot, such as "demo.example.com", got "${group}"`,
    );
  }
  checkApproval(kind, group, annotations[APPROVED]);
  checkLabel(kind, "version", version, "v1");
  checkLabel(kind, "plural", plural, "websites");
  checkLabel(kind, "singular", singular, "website");
  for (const name of shortNames) checkLabel(kind, "shortNames", name, "web");
  for (const name of categories) checkLabel(kind, "categories", name, "all");
  if (`${plural}.${group}`.length > MAX_NAME_LENGTH) {
    rejectKind(kind, `"${plural}.${group}" is longer than ${MAX_NAME_LENGTH} characters. Shorten "group"`);
  }
}

const APPROVED = "api-approved.kubernetes.io";

/**
 * Checks the approval of a group of the Kubernetes community. Such a group requires an annotation
 * with a link to the approval, or with a reason for its absence. Source:
 * k8s.io/apiextensions-apiserver/pkg/apihelpers.
 */
function checkApproval(kind: string, group: string, approval = ""): void {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group) || approval.startsWith("unapproved")) return;
  if (approval === "") {
    rejectKind(
      kind,
      `group "${group}" belongs to the Kubernetes community. Use your own domain, or name the approval in annotation "${APPROVED}"`,
    );
  }
  if (/^[a-z][a-z\d+.-]*:\/\/[^/?#\s]/i.test(approval) && URL.canParse(approval)) return;
  rejectKind(
    kind,
    `annotation "${APPROVED}" must be a URL, or a reason that starts with "unapproved", got "${approval}"`,
  );
}

function checkLabel(kind: string, key: string, name: string, example: string): void {
  if (LABEL.test(name)) return;
  rejectKind(
    kind,
    `"${key}" must have at most 63 lower case letters, digits and "-", and start with a letter, such as "${example}", got "${name}"`,
  );
}
