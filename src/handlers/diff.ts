/** Computes the changes between two values. */
import { equal, isObject } from "../base/json.ts";
import { diffJson } from "../base/json_diff.ts";
import type { JsonPatchOperation } from "../base/json_patch.ts";
import { own } from "../base/own.ts";
import { parsePath, valueAt } from "./path.ts";

/** A change of one field. */
export interface DiffEntry {
  /** How the field changed. */
  readonly op: "add" | "change" | "remove";
  /**
   * The names of the fields that lead to the changed field, relative to the compared values. An
   * item of a keyed list is identified by its index: in the old list if it was removed, otherwise
   * in the current one.
   */
  readonly path: readonly (string | number)[];
  /** The old value, or `undefined` if the field was added. */
  readonly old: unknown;
  /** The current value, or `undefined` if the field was removed. */
  readonly current: unknown;
}

/**
 * Returns the names of the fields that identify the items of a list, such as `name` for containers.
 * Returns `undefined` if items have no identity. A `*` in the path stands for any item or key of a
 * map.
 */
export type ListKeys = (path: readonly string[]) => readonly string[] | undefined;

/**
 * The changes between two JSON values. Lists whose items have keys are compared by key, so that
 * their order does not matter
 * ({@link https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy | x-kubernetes-list-type: map});
 * other lists are compared as a whole.
 */
export class Diff implements Iterable<DiffEntry> {
  readonly #old: unknown;
  readonly #current: unknown;
  readonly #keysOf: ListKeys;
  readonly #entries: readonly DiffEntry[];

  /**
   * @param old The old value, or `undefined` if there is none.
   * @param current The current value, or `undefined` if there is none.
   * @param keysOf Returns the keys of lists, by paths relative to the values.
   */
  constructor(old: unknown, current: unknown, keysOf: ListKeys = () => undefined) {
    this.#old = old;
    this.#current = current;
    this.#keysOf = keysOf;
    this.#entries = [...compare({ old, current }, { path: [], names: [], keysOf })];
  }

  /** Number of changed fields. */
  get size(): number {
    return this.#entries.length;
  }

  /** Iterates over the changed fields. */
  [Symbol.iterator](): Iterator<DiffEntry> {
    return this.#entries[Symbol.iterator]();
  }

  /**
   * Returns the old and the current value of a field.
   *
   * @param path The field, such as `.spec.replicas`.
   * @returns The values, or `undefined` if the field did not change.
   */
  at(path: string): { readonly old: unknown; readonly current: unknown } | undefined {
    const inner = this.under(path);
    return inner.size === 0 ? undefined : { old: inner.#old, current: inner.#current };
  }

  /**
   * Returns whether a field changed.
   *
   * @param path The field, such as `.spec.replicas`.
   */
  has(path: string): boolean {
    return this.under(path).size > 0;
  }

  /**
   * Returns the changes within a field. Their paths are relative to it.
   *
   * @param path The field, such as `.spec.template`.
   */
  under(path: string): Diff {
    const names = parsePath(path);
    return new Diff(
      valueAt(this.#old, names),
      valueAt(this.#current, names),
      (inner) => this.#keysOf([...names, ...inner]),
    );
  }

  /** Returns the changes as a JSON patch (RFC 6902) from the old value to the current one. */
  toPatch(): JsonPatchOperation[] {
    return diffJson(this.#old, this.#current);
  }
}

interface Pair {
  readonly old: unknown;
  readonly current: unknown;
}

interface Position {
  /** The path as in {@linkcode DiffEntry}. */
  readonly path: readonly (string | number)[];
  /** The path with `*` for items, as {@linkcode ListKeys} expects it. */
  readonly names: readonly string[];
  readonly keysOf: ListKeys;
}

function* compare({ old, current }: Pair, position: Position): Generator<DiffEntry> {
  if (equal(old, current)) return;
  const { path, names, keysOf } = position;
  if (isObject(old) && isObject(current)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(current)])) {
      const inner = { path: [...path, name], names: [...names, name], keysOf };
      yield* compare({ old: own(old, name), current: own(current, name) }, inner);
    }
    return;
  }
  const keys = Array.isArray(old) && Array.isArray(current) ? keysOf(names) : undefined;
  if (keys === undefined) {
    const op = old === undefined ? "add" : current === undefined ? "remove" : "change";
    return void (yield { op, path, old, current });
  }
  const [before, after] = [itemsByKey(old as unknown[], keys), itemsByKey(current as unknown[], keys)];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [oldItem, currentItem] = [before.get(key), after.get(key)];
    const inner = { path: [...path, (currentItem ?? oldItem)!.index], names: [...names, "*"], keysOf };
    yield* compare({ old: oldItem?.item, current: currentItem?.item }, inner);
  }
}

/**
 * Returns the items of a list by the values of their keys. Of items with equal keys, the last is
 * returned.
 */
function itemsByKey(
  items: readonly unknown[],
  keys: readonly string[],
): ReadonlyMap<string, { readonly index: number; readonly item: unknown }> {
  return new Map(
    items.map((item, index) => [
      JSON.stringify(keys.map((key) => isObject(item) ? own(item, key) : undefined)),
      { index, item },
    ]),
  );
}
