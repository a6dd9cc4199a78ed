/** Filters of handlers: labels, annotations, namespaces, and the values of a changed field. */
import { equal } from "../base/json.ts";
import { labelValueErrors, qualifiedNameErrors } from "../base/name_rules.ts";
import { own } from "../base/own.ts";

/**
 * Matches a label, annotation or field that exists, with any value.
 *
 * @example Usage
 * ```ts
 * import { absent, on, present } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const labels = { team: present, demo: absent } as const;
 * const copy = on.create(ConfigMap, (_map, { log }) => log.info("Copied"), { labels });
 * ```
 */
export const present: unique symbol = /* @__PURE__ */ Symbol("present");

/**
 * Matches a label, annotation or field that does not exist.
 *
 * @example Usage
 * ```ts
 * import { absent, on, present } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const labels = { team: present, demo: absent } as const;
 * const copy = on.create(ConfigMap, (_map, { log }) => log.info("Copied"), { labels });
 * ```
 */
export const absent: unique symbol = /* @__PURE__ */ Symbol("absent");

/** A filter for one label or annotation: its value, a list of values, or a function. */
export type TextFilter =
  | string
  | readonly string[]
  | typeof present
  | typeof absent
  | ((value: string | undefined) => boolean);

/** Filters for labels or annotations by name. All of them must match. */
export interface TextFilters {
  /** The filter for one name. */
  readonly [name: string]: TextFilter;
}

/** Which objects a handler is called for. All filters must match. */
export interface ObjectFilter {
  /** Filters for labels. @default {none} */
  readonly labels?: TextFilters | undefined;
  /** Filters for annotations. @default {none} */
  readonly annotations?: TextFilters | undefined;
  /**
   * Namespaces and patterns, such as `["shop-*", "!shop-test"]`. `*` stands for any characters, `?`
   * for one, and `!` excludes.
   *
   * A namespace must match a pattern before the first exclusion, unless the list begins with an
   * exclusion. Of the following patterns, the last one that matches it decides. So
   * `["shop-*", "!*-test", "shop-eu-test"]` matches `shop-live` and `shop-eu-test`, but neither
   * `shop-us-test` nor `blog-live`. An item may contain several patterns separated by commas.
   *
   * The rules are those of kopf's option `--namespace`, with one difference: kopf ignores the other
   * patterns before the first exclusion, so that its `shop,blog` does not match `blog`
   * ({@link https://github.com/nolar/kopf/blob/main/docs/scopes.rst | kopf, Scopes}).
   */
  readonly namespaces?: readonly string[] | undefined;
}

/** The metadata that filters read. */
export interface FilteredMetadata {
  readonly namespace?: string | undefined;
  readonly labels?: { readonly [name: string]: string } | undefined;
  readonly annotations?: { readonly [name: string]: string } | undefined;
}

/**
 * Compiles the filters of a handler.
 *
 * @param filters The filters of the handler and those that it shares with others. All of them must
 *   match.
 * @returns Reports whether an object matches. It throws what a function of a filter throws.
 * @throws {SyntaxError} If the name or the value of a label, the name of an annotation, or a
 *   pattern is invalid.
 * @throws {RangeError} If a list is empty, so that no object would match.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const labels = { app: "web", demo: absent } as const;
 * const matches = objectMatcher([{ labels }, { namespaces: ["shop-*"] }]);
 * assert(matches({ namespace: "shop-eu", labels: { app: "web" } }));
 * assert(!matches({ namespace: "shop-eu", labels: { app: "web", demo: "yes" } }));
 * ```
 */
export function objectMatcher(filters: readonly ObjectFilter[]): (metadata: FilteredMetadata) => boolean {
  const tests: ((metadata: FilteredMetadata) => boolean)[] = [];
  for (const { labels = {}, annotations = {}, namespaces } of filters) {
    for (const [name, filter] of Object.entries(labels)) {
      checkTextFilter("labels", name, filter);
      tests.push((metadata) => matchesText(filter, own(metadata.labels, name)));
    }
    for (const [name, filter] of Object.entries(annotations)) {
      checkTextFilter("annotations", name, filter);
      tests.push((metadata) => matchesText(filter, own(metadata.annotations, name)));
    }
    if (namespaces !== undefined) {
      const matches = namespaceMatcher(namespaces);
      tests.push(({ namespace }) => namespace !== undefined && matches(namespace));
    }
  }
  return (metadata) => tests.every((test) => test(metadata));
}

function matchesText(filter: TextFilter, value: string | undefined): boolean {
  if (filter === present) return value !== undefined;
  if (filter === absent) return value === undefined;
  if (typeof filter === "function") return filter(value);
  if (value === undefined) return false;
  return typeof filter === "string" ? filter === value : filter.includes(value);
}

function checkTextFilter(option: "labels" | "annotations", name: string, filter: TextFilter): void {
  // Prefixes of annotations may have uppercase letters: k8s.io/apimachinery ValidateAnnotations.
  const [nameError] = qualifiedNameErrors(option === "labels" ? name : name.toLowerCase());
  if (nameError !== undefined) {
    throw new SyntaxError(`Filter "${option}": invalid name "${name}": ${nameError}.`);
  }
  if (Array.isArray(filter) && filter.length === 0) {
    throw new RangeError(
      `Filter "${option}": the list for "${name}" is empty, so no object matches. Add values, or use "absent".`,
    );
  }
  if (option === "annotations" || typeof filter === "function" || typeof filter === "symbol") return;
  for (const value of [filter].flat()) {
    const [error] = labelValueErrors(value);
    if (error !== undefined) throw new SyntaxError(`Filter "labels": invalid value "${value}" of "${name}": ${error}.`);
  }
}

interface NamespacePattern {
  readonly isExclusion: boolean;
  readonly expression: RegExp;
}

function namespaceMatcher(items: readonly string[]): (namespace: string) => boolean {
  const patterns = items.flatMap((item) => item.split(",")).map((text) => parsePattern(text.trim()));
  if (patterns.length === 0) {
    throw new RangeError(`Filter "namespaces": the list is empty, so no object matches. Add a namespace or a pattern.`);
  }
  const firstExclusion = patterns.findIndex(({ isExclusion }) => isExclusion);
  const count = firstExclusion === -1 ? patterns.length : firstExclusion;
  const [first, rest] = [patterns.slice(0, count), patterns.slice(count)];
  return (namespace) => {
    const isSelected = first.length === 0 || first.some(({ expression }) => expression.test(namespace));
    return isSelected && rest.findLast(({ expression }) => expression.test(namespace))?.isExclusion !== true;
  };
}

function parsePattern(text: string): NamespacePattern {
  const [, exclusion, glob] = /^(!?)([a-z0-9*?-]+)$/.exec(text) ?? [];
  if (glob === undefined) {
    throw new SyntaxError(
      `Filter "namespaces": invalid pattern ${
        JSON.stringify(text)
      }. Use the lowercase letters, digits and dashes of namespaces, "*" for any characters, "?" for one, ` +
        `and "!" in front to exclude.`,
    );
  }
  const source = glob.replaceAll(/\*+/g, ".*").replaceAll("?", ".");
  return { isExclusion: exclusion === "!", expression: new RegExp(`^${source}$`) };
}

/** A filter for the value of a field: a JSON value, or a function. */
export type Match<V> = V | typeof present | typeof absent | ((value: V | undefined) => boolean);

/** Which changes of a field a handler is called for. All filters must match. */
export interface ChangeFilter<V = unknown> {
  /** Filters the old value. */
  readonly from?: Match<V> | undefined;
  /** Filters the current value. */
  readonly to?: Match<V> | undefined;
  /** Matches if the old or the current value matches. */
  readonly fromOrTo?: Match<V> | undefined;
}

/**
 * Returns whether a change of a field matches a filter. Values are compared as JSON: the order of
 * keys does not matter.
 *
 * @param filter The filter.
 * @param old The old value, or `undefined` if the field did not exist.
 * @param current The current value, or `undefined` if the field does not exist.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert(matchesChange({ from: absent, to: "gold" }, undefined, "gold"));
 * assert(matchesChange({ fromOrTo: "gold" }, "gold", "free"));
 * ```
 */
export function matchesChange<V>(
  { from, to, fromOrTo }: ChangeFilter<V>,
  old: V | undefined,
  current: V | undefined,
): boolean {
  return (from === undefined || matchesValue(from, old)) && (to === undefined || matchesValue(to, current)) &&
    (fromOrTo === undefined || matchesValue(fromOrTo, old) || matchesValue(fromOrTo, current));
}

function matchesValue<V>(match: Match<V>, value: V | undefined): boolean {
  if (match === present) return value !== undefined;
  if (match === absent) return value === undefined;
  // JSON values are never functions.
  if (typeof match === "function") return (match as (value: V | undefined) => boolean)(value);
  return value !== undefined && equal(match, value);
}

/** The filters of a handler, as {@linkcode selectorOf} needs them. */
export interface FilteredHandler {
  /** As for {@linkcode objectMatcher}. */
  readonly filters: readonly ObjectFilter[];
  /** Whether the handler adds a finalizer to the objects that match. */
  readonly hasFinalizer: boolean;
}

/**
 * Returns the label selector with which a kind can be watched, so that the API server does not send
 * objects that no handler matches. It has the label filters that all handlers share and that a
 * selector can express: values, lists, `present` and `absent`.
 *
 * A kind with a finalizer is watched without a selector. Otherwise, an object that loses the label
 * would keep the finalizer, and could not be deleted.
 *
 * @param handlers All handlers of the kind. Their filters are valid.
 * @returns The selector, such as `app=web,!demo`, or `undefined` if all objects must be watched.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const web = { filters: [{ labels: { app: "web" } }], hasFinalizer: false };
 * const gold = { filters: [{ labels: { app: "web", tier: "gold" } }], hasFinalizer: false };
 * assert.equal(selectorOf([web, gold]), "app=web");
 * ```
 */
export function selectorOf(handlers: readonly FilteredHandler[]): string | undefined {
  const [first, ...others] = handlers;
  if (first === undefined || handlers.some(({ hasFinalizer }) => hasFinalizer)) return undefined;
  let shared = requirementsOf(first);
  for (const other of others) shared = shared.intersection(requirementsOf(other));
  return shared.size === 0 ? undefined : [...shared].sort().join(",");
}

/** Returns the requirements of a label selector, in a form that is equal for equal filters. */
function requirementsOf({ filters }: FilteredHandler): Set<string> {
  return new Set(
    filters.flatMap(({ labels = {} }) =>
      Object.entries(labels).flatMap(([name, filter]) => {
        if (typeof filter === "function") return [];
        if (filter === present) return [name];
        if (filter === absent) return [`!${name}`];
        const values = [...new Set([filter].flat())].sort();
        return [values.length === 1 ? `${name}=${values[0]}` : `${name} in (${values.join(",")})`];
      })
    ),
  );
}
