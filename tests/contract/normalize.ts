/**
 * Normalizes transcripts: replaces values that differ between any two runs, such as uids, but
 * preserves their order and equality.
 */
import { isObject } from "../../src/base/json.ts";
import type { Step } from "./recorder.ts";
import { withoutSyntaxWording } from "./syntax_wording.ts";

/** List of values that are not compared, for reports. */
export const NOT_COMPARED: readonly string[] = [
  "uids: replaced by numbers in the order of first appearance, so that equal ones stay equal",
  "resourceVersions of objects: replaced by their rank in the case, so that order and equality are compared",
  "resourceVersions of lists and bookmarks: only whether they are at least the previous ones in the case",
  "resourceVersions of tables: only whether there is one",
  "times: only their precision (seconds or microseconds); ages in tables in seconds or years",
  "names from generateName: replaced by a number if their suffix has the right form",
  "continue tokens: only whether there is one",
  "order of the causes of an error, in the list and in the message: random in the real server",
  "wording of CEL syntax errors: only the position of the first one",
  "order of managedFields: the real server sorts them by time in seconds",
  "order of the rules of a SelfSubjectRulesReview: random in the real server",
  "order of the keys of JSON objects, and white space",
  "addresses (10.0.0.0/16) and node ports in the spec of a Service: only whether they are present",
  "the address of the server",
  "headers other than Content-Type and Warning",
];

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
// Matches a resourceVersion in an object that a message or a YAML document quotes.
const QUOTED_VERSION = /(resourceVersion\\*"?: ?\\*")(\d+)/g;
// Matches a resourceVersion in a query or a message. It may be the version of a list, which is not
// compared.
const VERSION_IN_TEXT =
  /(resourceVersion=|too old resource version: \d+ \(|ResourceVersion in (?:the )?\w+ \(|current: )[1-9]\d*/g;
// The alphabet of k8s.io/apimachinery/pkg/util/rand, which has no vowels and no similar characters.
const GENERATED_SUFFIX = /^[bcdfghjklmnpqrstvwxz2456789]{5}$/;

/** Returns the steps of a transcript in the form in which they are compared. */
export function normalizeSteps(steps: readonly Step[]): unknown[] {
  const noise = new Normalizer(steps);
  return steps.map((step) => noise.normalize(step));
}

/** Replaces the random values of one transcript. */
class Normalizer {
  readonly #uids = new Map<string, string>();
  readonly #generated = new Map<string, string>();
  /** Ranks of the versions of objects, from 1. */
  readonly #ranks: ReadonlyMap<string, number>;
  /** The newest version so far. The version of a list or a bookmark must not be older. */
  #newest = 0;

  constructor(steps: readonly Step[]) {
    const versions = new Set<string>();
    for (const object of objectsIn(steps)) {
      this.#recordGeneratedName(object);
      // The uid field comes first, because the order of keys that contain a uid is random.
      if (typeof object.uid === "string" && object.uid.replace(UID, "") === "") this.#uid(object.uid);
      const { metadata } = object;
      if (isObject(metadata) && !isList(object) && isVersion(metadata.resourceVersion)) {
        versions.add(metadata.resourceVersion);
      }
    }
    const sorted = [...versions].sort((a, b) => Number(a) - Number(b));
    this.#ranks = new Map(sorted.map((version, i) => [version, i + 1]));
  }

  normalize(value: unknown): unknown {
    if (typeof value === "string") return this.#text(value);
    if (Array.isArray(value)) return value.map((item) => this.normalize(item));
    if (!isObject(value)) return value;
    if (value.kind === "Status") return this.#object(sortCauses(value));
    if (Array.isArray(value.rows)) return this.#object({ ...value, rows: value.rows.map(replaceAges) });
    return this.#object(value);
  }

  #object(object: Record<string, unknown>): Record<string, unknown> {
    const result = Object.keys(object).sort(itemsFirst).map((key): [string, unknown] => {
      const field = object[key];
      if (key === "managedFields" && Array.isArray(field)) return [key, this.normalize(sortManagers(field))];
      if (key === "metadata" && isObject(field)) {
        return [key, Array.isArray(object.rows) ? this.#tableMetadata(field) : this.#metadata(field, isList(object))];
      }
      if (ALLOCATED_FIELDS.has(key) && isServiceSpecOrPort(object)) return [key, replaceAllocated(field)];
      if (RULE_LISTS.has(key) && Array.isArray(field)) return [key, sortByJson(field)];
      if (key === "object" && object.type === "BOOKMARK" && isObject(field)) {
        return [key, { ...field, metadata: this.#metadata(field.metadata as Record<string, unknown>, true) }];
      }
      return [this.#text(key), this.normalize(field)];
    });
    return Object.fromEntries(result);
  }

  /**
   * Normalizes the metadata of a table. A table may contain a list or one object, so its version
   * may be newer or older than the previous ones.
   */
  #tableMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
    const { resourceVersion: version, ...rest } = metadata;
    return { ...this.#metadata(rest, true), ...(isVersion(version) && { resourceVersion: "<of a table>" }) };
  }

  #metadata(metadata: Record<string, unknown>, isListMetadata: boolean): Record<string, unknown> {
    const result = this.#object(metadata);
    const { resourceVersion: version } = metadata;
    if (isVersion(version)) {
      result.resourceVersion = isListMetadata
        ? (Number(version) >= this.#newest ? "<not older>" : "<older>")
        : this.#version(version);
      this.#newest = Math.max(this.#newest, Number(version));
    }
    if (typeof metadata.continue === "string" && metadata.continue !== "") result.continue = "<continue>";
    return result;
  }

  #version(version: string): string {
    if (version === "0") return version;
    const rank = this.#ranks.get(version);
    return rank === undefined ? "<version>" : `<version ${rank}>`;
  }

  #text(text: string): string {
    for (const [name, label] of this.#generated) text = text.replaceAll(name, label);
    return text
      .replaceAll(UID, (uid) => this.#uid(uid))
      .replaceAll(TIME, (_, fraction) => fraction === undefined ? "<time>" : "<micro time>")
      .replaceAll(QUOTED_VERSION, (_, label, version) => label + this.#version(version))
      .replaceAll(VERSION_IN_TEXT, "$1<version>")
      .replaceAll(/127\.0\.0\.1:\d+/g, "<address>")
      .replaceAll(/continue=[^&\s]+/g, "continue=<continue>");
  }

  #uid(uid: string): string {
    const known = this.#uids.get(uid) ?? `<uid ${this.#uids.size + 1}>`;
    this.#uids.set(uid, known);
    return known;
  }

  #recordGeneratedName({ name, generateName }: Record<string, unknown>): void {
    if (typeof name !== "string" || typeof generateName !== "string" || !name.startsWith(generateName)) return;
    if (!GENERATED_SUFFIX.test(name.slice(generateName.length)) || this.#generated.has(name)) return;
    this.#generated.set(name, `${generateName}<generated ${this.#generated.size + 1}>`);
  }
}

/** Fields of a Service that the server allocates. */
const ALLOCATED_FIELDS = new Set(["clusterIP", "clusterIPs", "nodePort"]);

/** Returns whether an object is the `spec` of a Service or one of its ports. */
function isServiceSpecOrPort(object: Record<string, unknown>): boolean {
  return object.ports !== undefined || object.port !== undefined;
}

function replaceAllocated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaceAllocated);
  if (typeof value === "number") return value >= 30_000 && value <= 32_767 ? "<node port>" : value;
  return typeof value === "string" && /^10\.0\.\d+\.\d+$/.test(value) ? "<cluster IP>" : value;
}

/** Fields of a SelfSubjectRulesReview with rules. */
const RULE_LISTS = new Set(["resourceRules", "nonResourceRules"]);

function sortByJson(values: readonly unknown[]): unknown[] {
  return [...values].sort((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
}

/**
 * Sorts `items` and `rows` before other keys, so that the version of the list is compared with
 * theirs.
 */
function itemsFirst(a: string, b: string): number {
  const rank = (key: string) => key === "items" || key === "rows" ? 0 : 1;
  return rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function isVersion(value: unknown): value is string {
  return typeof value === "string" && /^[1-9]\d*$/.test(value);
}

function isList(object: Record<string, unknown>): boolean {
  // An empty list of metadata has no `items`.
  return Array.isArray(object.items) || object.items === null || Array.isArray(object.rows) ||
    object.kind === "PartialObjectMetadataList";
}

function replaceAges(row: unknown): unknown {
  if (!isObject(row) || !Array.isArray(row.cells)) return row;
  return { ...row, cells: row.cells.map((cell) => typeof cell === "string" ? replaceAge(cell) : cell) };
}

/**
 * Replaces an age in seconds, and one in years: the age of a fixed date changes from day to day.
 * The restarts of a pod contain the age of the last one: `2 (6y327d ago)`.
 */
function replaceAge(cell: string): string {
  const [, restarts, age] = /^(\d+) \((\w+) ago\)$/.exec(cell) ?? [];
  if (age !== undefined) return `${restarts} (${replaceAge(age)} ago)`;
  if (/^\d+s$/.test(cell)) return "<age>";
  return /^\d+y(\d+d)?$/.test(cell) ? "<age in years>" : cell;
}

/** Sorts managedFields by manager and operation. */
function sortManagers(entries: readonly unknown[]): unknown[] {
  const key = (entry: unknown) => {
    const { manager, operation, subresource, apiVersion } = entry as Record<string, unknown>;
    return JSON.stringify([manager, operation, subresource, apiVersion]);
  };
  return [...entries].sort((a, b) => key(a) < key(b) ? -1 : 1);
}

/**
 * Sorts the causes of an error. Its message also lists them: as `[a, b]`, or for conflicts as
 * lines.
 */
function sortCauses(status: Record<string, unknown>): Record<string, unknown> {
  const { details, message } = status;
  if (!isObject(details) || !Array.isArray(details.causes) || typeof message !== "string") return status;
  const given = details.causes as Cause[];
  const causes = given.map((cause) => ({ ...cause, message: withoutSyntaxWording(cause.message) }));
  causes.sort((a, b) => causeText(a) < causeText(b) ? -1 : 1);
  let rest = message;
  for (const cause of given) rest = rest.replace(causeText(cause), "");
  const sorted = rest.includes("\n")
    ? message.split("\n").sort().join("\n")
    : rest === message
    ? message
    : `${rest.replace(/\[[, ]*\]$/, "")}${causes.map(causeText).join("; ")}`;
  return { ...status, details: { ...details, causes }, message: sorted };
}

interface Cause {
  readonly field: string;
  readonly message: string;
}

function causeText({ field, message }: Cause): string {
  return `${field}: ${message}`;
}

/** Yields all JSON objects within a value, except bookmarks. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (Array.isArray(value)) { for (const item of value) yield* objectsIn(item); }
  if (!isObject(value) || value.type === "BOOKMARK") return;
  yield value;
  for (const key of Object.keys(value).sort()) yield* objectsIn(value[key]);
}
