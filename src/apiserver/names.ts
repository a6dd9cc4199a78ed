/** Which names, labels and the like are allowed, with the server's words for those that are not (`k8s.io/apimachinery/pkg/util/validation`). */

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE = `(${KEY})?`;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  "and must start and end with an alphanumeric character";
const LABEL_TEXT = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
  "and must start and end with an alphanumeric character";
const LABEL_1035_TEXT = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', " +
  "start with an alphabetic character, and end with an alphanumeric character";
const KEY_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_TEXT = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ` +
  "and must start and end with an alphanumeric character";

/** A rule for names: what is wrong with one, nothing when it may be. */
export type NameRule = (name: string) => string[];

/** `metadata.name` of most kinds. */
export function subdomainFaults(name: string): string[] {
  return faults(name, 253, SUBDOMAIN, SUBDOMAIN_TEXT, ["example.com"]);
}

/** Names of namespaces and the like. */
export function labelFaults(name: string): string[] {
  return faults(name, 63, LABEL, LABEL_TEXT, ["my-name", "123-abc"]);
}

/** Names of services, and plural names. */
export function label1035Faults(name: string): string[] {
  return faults(name, 63, LABEL_1035, LABEL_1035_TEXT, ["my-name", "abc-123"]);
}

/** What any name must be, since it is part of a path. */
export function pathSegmentFaults(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`);
}

/** Keys of labels and annotations, finalizers. */
export function qualifiedNameFaults(text: string): string[] {
  const parts = text.split("/");
  const found: string[] = [];
  if (parts.length > 2) {
    const rule = pattern(KEY, KEY_TEXT, ["MyName", "my.name", "123-abc"]);
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const [prefix, name = ""] = parts.length === 2 ? parts : [undefined, parts[0]];
  if (prefix === "") found.push("prefix part must be non-empty");
  else if (prefix !== undefined) found.push(...subdomainFaults(prefix).map((fault) => `prefix part ${fault}`));
  if (name === "") found.push("name part must be non-empty");
  else if (name.length > 63) found.push(`name part ${longest(63)}`);
  if (!whole(KEY).test(name)) found.push(`name part ${pattern(KEY, KEY_TEXT, ["MyName", "my.name", "123-abc"])}`);
  return found;
}

/** Values of labels. */
export function labelValueFaults(text: string): string[] {
  return faults(text, 63, VALUE, VALUE_TEXT, ["MyValue", "my_value", "12345"]);
}

function faults(text: string, most: number, source: string, rule: string, examples: readonly string[]): string[] {
  const found: string[] = [];
  if (text.length > most) found.push(longest(most, source === VALUE ? "bytes" : "characters"));
  if (!whole(source).test(text)) found.push(pattern(source, rule, examples));
  return found;
}

function longest(most: number, unit: "bytes" | "characters" = "bytes"): string {
  return `must be no more than ${most} ${unit}`;
}

function pattern(source: string, rule: string, examples: readonly string[]): string {
  // One space for one example, two after the comma for more: so the server prints it.
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${rule} (e.g. ${shown}regex used for validation is '${source}')`;
}

const compiled = new Map<string, RegExp>();

function whole(source: string): RegExp {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const made = new RegExp(`^(?:${source})$`);
  compiled.set(source, made);
  return made;
}
