/**
 * Rules of roles: what they allow, and which rules cover others
 * (`k8s.io/component-helpers/auth/rbac/validation`).
 */
import { type Attributes, isOfResource } from "./attributes.ts";

/** An entry of `rules` of a role. */
export interface PolicyRule {
  readonly verbs?: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** Returns whether a rule allows a request. */
export function allows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (!isOfResource(attributes)) {
    return (rule.nonResourceURLs ?? []).some((url) => url === "*" || coversPath(url, attributes.path));
  }
  const { group, resource, subresource, name } = attributes;
  const combined = subresource === "" ? resource : `${resource}/${subresource}`;
  const names = rule.resourceNames ?? [];
  return hasOrAll(rule.apiGroups, group) && (names.length === 0 || names.includes(name)) &&
    (rule.resources ?? []).some((each) =>
      each === "*" || each === combined || (subresource !== "" && each === `*/${subresource}`)
    );
}

/**
 * Returns the rules that other rules do not cover.
 *
 * @param owned Rules that the user has.
 * @param wanted Rules that the user wants to grant.
 * @returns The missing rules, each with one verb and one resource, in the order of `wanted`.
 */
export function uncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(splitRule).filter((rule) => !owned.some((each) => covers(each, rule)));
}

/** Splits a rule into rules with one verb, one resource and at most one name each. */
function splitRule(rule: PolicyRule): PolicyRule[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names: readonly PolicyRule[] = resourceNames.length === 0
    ? [{}]
    : resourceNames.map((name) => ({ resourceNames: [name] }));
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name): PolicyRule => ({ apiGroups: [group], resources: [resource], verbs: [verb], ...name }))
      )
    )
  );
  const ofPaths = nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] })));
  return [...ofResources, ...ofPaths];
}

function covers(owned: PolicyRule, rule: PolicyRule): boolean {
  const names = owned.resourceNames ?? [];
  const hasNames = names.length === 0 ||
    ((rule.resourceNames?.length ?? 0) > 0 && isWithin(rule.resourceNames, names));
  return (owned.verbs?.includes("*") || isWithin(rule.verbs, owned.verbs)) &&
    (owned.apiGroups?.includes("*") || isWithin(rule.apiGroups, owned.apiGroups)) &&
    (rule.resources ?? []).every((resource) => coversResource(owned.resources ?? [], resource)) && hasNames &&
    (rule.nonResourceURLs ?? []).every((path) => (owned.nonResourceURLs ?? []).some((url) => coversPath(url, path)));
}

function coversResource(owned: readonly string[], resource: string): boolean {
  const part = resource.indexOf("/");
  return owned.includes("*") || owned.includes(resource) || (part >= 0 && owned.includes(`*${resource.slice(part)}`));
}

function coversPath(owned: string, path: string): boolean {
  return owned === path || (owned.endsWith("*") && path.startsWith(owned.replace(/\*+$/, "")));
}

function hasOrAll(values: readonly string[] | undefined, wanted: string): boolean {
  return values?.some((each) => each === "*" || each === wanted) ?? false;
}

function isWithin(values: readonly string[] = [], all: readonly string[] = []): boolean {
  return values.every((each) => all.includes(each));
}

/**
 * Formats rules for a message: one line for each resource, in alphabetical order.
 *
 * @param rules Rules as {@linkcode uncovered} returns them.
 */
export function compactLines(rules: readonly PolicyRule[]): string[] {
  const byResource = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const { verbs, ...rest } = rule;
    const key = rule.nonResourceURLs === undefined ? JSON.stringify(rest) : JSON.stringify(rule);
    const known = byResource.get(key);
    byResource.set(key, { ...rule, verbs: [...known?.verbs ?? [], ...verbs ?? []] });
  }
  return [...new Set([...byResource.values()].map(compactLine))].sort();
}

function compactLine({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ];
  const given = parts.flatMap(([label, values]) => values?.length ? [`${label}:${quotedList(values)}`] : []);
  return `{${given.join(", ")}}`;
}

/** Formats strings as Go's `%q` formats a slice: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(" ")}]`;
}
