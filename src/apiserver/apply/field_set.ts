/**
 * Sets of fields as in `managedFields` (`sigs.k8s.io/structured-merge-diff/v6/fieldpath`). The
 * steps of a path are strings as in `fieldsV1`: `f:name` for a field, `k:{"name":"web"}` for an
 * item of a list map, `v:"a"` for a member of a set.
 */
import { isObject } from "../../base/json.ts";
import { setOwn } from "../../base/own.ts";

/** A set of paths. It is not modified after it is built. */
export class FieldSet {
  /** Steps at which a path of the set ends. */
  readonly members: Set<string> = new Set();
  /** Steps at which paths of the set continue. */
  readonly children: Map<string, FieldSet> = new Map();

  /** Parses `fieldsV1`. */
  static parse(fields: unknown): FieldSet {
    const set = new FieldSet();
    if (!isObject(fields)) return set;
    for (const [step, rest] of Object.entries(fields)) {
      // Ignores steps of unknown types, which a later version may have written.
      if (!/^[fkvi]:/.test(step)) continue;
      const parts = isObject(rest) ? Object.keys(rest) : [];
      const key = canonicalStep(step);
      if (parts.length === 0 || parts.includes(".")) set.members.add(key);
      if (parts.some((part) => part !== ".")) set.children.set(key, FieldSet.parse(rest));
    }
    return set;
  }

  /** Returns the set of the given paths, each a list of steps. */
  static of(...paths: readonly (readonly string[])[]): FieldSet {
    const set = new FieldSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** Adds a path while the set is being built. */
  insert(path: readonly string[]): void {
    const last = path.at(-1);
    if (last === undefined) return;
    const [step = "", ...rest] = path;
    if (rest.length === 0) this.members.add(last);
    else this.descend(step).insert(rest);
  }

  /** Returns the child set of a step while the set is being built; creates it if necessary. */
  descend(step: string): FieldSet {
    const existing = this.children.get(step);
    if (existing !== undefined) return existing;
    const created = new FieldSet();
    this.children.set(step, created);
    return created;
  }

  get isEmpty(): boolean {
    return this.members.size === 0 && [...this.children.values()].every((child) => child.isEmpty);
  }

  has(path: readonly string[]): boolean {
    const [step, ...rest] = path;
    if (step === undefined) return false;
    return rest.length === 0 ? this.members.has(step) : this.children.get(step)?.has(rest) ?? false;
  }

  union(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const step of [...this.members, ...other.members]) result.members.add(step);
    for (const [step, child] of this.children) {
      const otherChild = other.children.get(step);
      result.children.set(step, otherChild === undefined ? child : child.union(otherChild));
    }
    for (const [step, child] of other.children) if (!this.children.has(step)) result.children.set(step, child);
    return result;
  }

  intersection(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const step of this.members) if (other.members.has(step)) result.members.add(step);
    for (const [step, child] of this.children) {
      const otherChild = other.children.get(step);
      if (otherChild !== undefined) result.#setChild(step, child.intersection(otherChild));
    }
    return result;
  }

  difference(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const step of this.members) if (!other.members.has(step)) result.members.add(step);
    for (const [step, child] of this.children) {
      const otherChild = other.children.get(step);
      result.#setChild(step, otherChild === undefined ? child : child.difference(otherChild));
    }
    return result;
  }

  /** Returns the paths that are neither in the other set nor below one of its paths. */
  recursiveDifference(other: FieldSet): FieldSet {
    const result = new FieldSet();
    for (const step of this.members) if (!other.members.has(step)) result.members.add(step);
    for (const [step, child] of this.children) {
      if (other.members.has(step)) continue;
      const otherChild = other.children.get(step);
      result.#setChild(step, otherChild === undefined ? child : child.recursiveDifference(otherChild));
    }
    return result;
  }

  /** Returns all paths in a deterministic order. */
  paths(): string[][] {
    const found: string[][] = [...this.members].sort().map((step) => [step]);
    for (const step of [...this.children.keys()].sort()) {
      for (const path of this.children.get(step)?.paths() ?? []) found.push([step, ...path]);
    }
    return found;
  }

  /** Returns the set as `fieldsV1`. */
  toJSON(): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const step of [...new Set([...this.members, ...this.children.keys()])].sort()) {
      const child = this.children.get(step);
      const rest = child === undefined || child.isEmpty ? {} : child.toJSON();
      const isBoth = this.members.has(step) && Object.keys(rest).length > 0;
      setOwn(fields, step, isBoth ? { ".": {}, ...rest } : rest);
    }
    return fields;
  }

  #setChild(step: string, child: FieldSet): void {
    if (!child.isEmpty) this.children.set(step, child);
  }
}

/** Returns a step with the keys of its JSON in order. */
function canonicalStep(step: string): string {
  if (!step.startsWith("k:") && !step.startsWith("v:")) return step;
  try {
    return step.slice(0, 2) + sorted(JSON.parse(step.slice(2)));
  } catch {
    return step;
  }
}

/** Formats JSON with sorted keys, so that equal values have equal strings. */
export function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const parts = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${sorted(value[key])}`);
  return `{${parts.join(",")}}`;
}

/**
 * Formats a path for messages: `.spec.ports[name="web"].port`.
 *
 * @param path The steps.
 */
export function pathText(path: readonly string[]): string {
  return path.map((step) => {
    const rest = step.slice(2);
    if (step.startsWith("f:")) return `.${rest}`;
    if (step.startsWith("v:")) return `[=${rest}]`;
    if (step.startsWith("i:")) return `[${rest}]`;
    const keys = JSON.parse(rest) as Record<string, unknown>;
    return `[${Object.entries(keys).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
  }).join("");
}
