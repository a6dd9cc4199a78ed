// Made by tools/cli_internal.ts from src/base/name_rules.ts: do not edit.
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

interface Rule {
  readonly source: string;
  readonly description: string;
  readonly examples: readonly string[];
}

const SUBDOMAIN: Rule = {
  source: `${LABEL}(\\.${LABEL})*`,
  description: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
    "and must start and end with an alphanumeric character",
  examples: ["example.com"],
};
const LABEL_1123: Rule = {
  source: LABEL,
  description: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
    "and must start and end with an alphanumeric character",
  examples: ["my-name", "123-abc"],
};
const LABEL_1035: Rule = {
  source: "[a-z]([-a-z0-9]*[a-z0-9])?",
  description: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', " +
    "start with an alphabetic character, and end with an alphanumeric character",
  examples: ["my-name", "abc-123"],
};
const LABEL_KEY: Rule = {
  source: KEY,
  description:
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  examples: ["MyName", "my.name", "123-abc"],
};
const LABEL_VALUE: Rule = {
  source: `(${KEY})?`,
  description: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
    "and must start and end with an alphanumeric character",
  examples: ["MyValue", "my_value", "12345"],
};

export type NameRule = (name: string) => string[];

export function subdomainErrors(name: string): string[] {
  return [...lengthErrors(name, 253, "characters"), ...formErrors(name, SUBDOMAIN)];
}

export function labelErrors(name: string): string[] {
  const long = lengthErrors(name, 63, "characters");
  const isSubdomain = formErrors(name, SUBDOMAIN).length === 0;
  const form = formErrors(name, LABEL_1123);
  return [...long, ...form.length > 0 && isSubdomain ? ["must not contain dots"] : form];
}

export function label1035Errors(name: string): string[] {
  return [...lengthErrors(name, 63, "characters"), ...formErrors(name, LABEL_1035)];
}

export function pathSegmentErrors(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((each) => name.includes(each)).map((each) => `may not contain '${each}'`);
}

export function qualifiedNameErrors(text: string): string[] {
  const parts = text.split("/");
  if (parts.length > 2) {
    const [error] = formErrors("", LABEL_KEY);
    return [`a valid label key ${error} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const [prefix, name] = parts.length === 2 ? [parts[0], parts[1]!] : [undefined, parts[0]!];
  const nameErrors = [...name === "" ? ["must be non-empty"] : lengthErrors(name, 63), ...formErrors(name, LABEL_KEY)];
  return [
    ...prefix === undefined ? [] : prefixErrors(prefix).map((error) => `prefix part ${error}`),
    ...nameErrors.map((error) => `name part ${error}`),
  ];
}

export function labelValueErrors(text: string): string[] {
  return [...lengthErrors(text, 63), ...formErrors(text, LABEL_VALUE)];
}

export function prefixRule(rule: NameRule): NameRule {
  return (name) => rule(name.length > 1 && name.endsWith("-") ? `${withoutLastBytes(name)}a` : name);
}

function withoutLastBytes(name: string): string {
  const bytes = new TextEncoder().encode(name).subarray(0, -2);
  return new TextDecoder().decode(bytes.map((byte) => byte < 0x80 ? byte : 0x7f));
}

function prefixErrors(prefix: string): string[] {
  return prefix === "" ? ["must be non-empty"] : [...lengthErrors(prefix, 253), ...formErrors(prefix, SUBDOMAIN)];
}

function lengthErrors(text: string, limit: number, unit: "bytes" | "characters" = "bytes"): string[] {
  const isLong = text.length * 3 > limit && new TextEncoder().encode(text).length > limit;
  return isLong ? [`must be no more than ${limit} ${unit}`] : [];
}

function formErrors(text: string, { source, description, examples }: Rule): string[] {
  if (whole(source).test(text)) return [];
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return [`${description} (e.g. ${shown}regex used for validation is '${source}')`];
}

const compiled = new Map<string, RegExp>();

function whole(source: string): RegExp {
  const cached = compiled.get(source);
  if (cached !== undefined) return cached;
  const expression = new RegExp(`^(?:${source})$`);
  compiled.set(source, expression);
  return expression;
}
