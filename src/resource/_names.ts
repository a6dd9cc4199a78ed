/** What an API server takes as the names of a kind. */
import { refuse } from "./_refusal.ts";

const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/; // a DNS label that starts with a letter, RFC 1035
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/; // of two parts and more, RFC 1123
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;
const LONGEST_NAME = 253;

/** Names of a kind, all of them said. */
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

/** What else of a kind decides whether its names are taken. */
export interface NameOptions {
  /** Annotations of the CustomResourceDefinition. */
  readonly annotations?: { readonly [key: string]: string } | undefined;
}

/**
 * Checks the names of a kind as apiextensions.k8s.io/v1 does.
 *
 * @param names The names.
 * @param options Additional options.
 * @throws {TypeError} If one would be refused by an API server.
 */
export function checkNames(names: Names, { annotations = {} }: NameOptions = {}): void {
  const { group, version, kind, plural, singular, listKind, shortNames, categories } = names;
  for (const [key, name] of [["kind", kind], ["listKind", listKind]] as const) {
    if (KIND.test(name)) continue;
    refuse(kind, `"${key}" must be in CamelCase, of letters and digits, 63 at most, got "${name}"`);
  }
  if (!SUBDOMAIN.test(group)) {
    refuse(
      kind,
      `"group" must be a domain name in lower case with a dot, as "demo.example.com", got "${group}"`,
    );
  }
  checkApproval(kind, group, annotations[APPROVED]);
  checkLabel(kind, "version", version, "v1");
  checkLabel(kind, "plural", plural, "websites");
  checkLabel(kind, "singular", singular, "website");
  for (const name of shortNames) checkLabel(kind, "shortNames", name, "web");
  for (const name of categories) checkLabel(kind, "categories", name, "all");
  if (`${plural}.${group}`.length > LONGEST_NAME) {
    refuse(kind, `"${plural}.${group}" is longer than ${LONGEST_NAME} characters: shorten "group"`);
  }
}

const APPROVED = "api-approved.kubernetes.io";

/**
 * The community's own groups take kinds only with a link to who approved of them, or a reason why nobody did. Source:
 * k8s.io/apiextensions-apiserver/pkg/apihelpers.
 */
function checkApproval(kind: string, group: string, approval = ""): void {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(group) || approval.startsWith("unapproved")) return;
  if (approval === "") {
    refuse(
      kind,
      `group "${group}" belongs to the Kubernetes community: take a domain of your own, or say who approved of it in annotation "${APPROVED}"`,
    );
  }
  if (/^[a-z][a-z\d+.-]*:\/\/[^/?#\s]/i.test(approval) && URL.canParse(approval)) return;
  refuse(
    kind,
    `annotation "${APPROVED}" must be a URL, or a reason that starts with "unapproved", got "${approval}"`,
  );
}

function checkLabel(kind: string, key: string, name: string, example: string): void {
  if (LABEL.test(name)) return;
  refuse(
    kind,
    `"${key}" must be of lower case letters, digits and "-", starting with a letter, 63 at most, as "${example}", got "${name}"`,
  );
}
