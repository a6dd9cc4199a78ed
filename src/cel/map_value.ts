/** Maps that expressions build. */
import { Abort } from "./outcome.ts";
import { DurationValue, MapValue, Timestamp, Uint, type Value } from "./value.ts";

/** Go's error for a bytes key. It aborts the whole evaluation. */
export const NO_BYTES = "internal error: runtime error: hash of unhashable type types.Bytes";

/**
 * A map that an expression built. Equal numbers of different types are different keys, but each
 * finds the other's entry if it has none of its own.
 */
export class EntryMap extends MapValue {
  readonly #entries = new Map<unknown, readonly [Value, Value]>();

  constructor(entries: Iterable<readonly [Value, Value]> = []) {
    super();
    for (const [key, value] of entries) this.set(key, value);
  }

  override get size(): number {
    return this.#entries.size;
  }

  override get(key: Value): Value | undefined {
    if (this.size === 0) return undefined;
    const exact = this.#entries.get(identityOf(key));
    if (exact !== undefined) return exact[1];
    for (const other of sameNumbers(key)) {
      const found = this.#entries.get(identityOf(other));
      if (found !== undefined) return found[1];
    }
    return undefined;
  }

  override *keys(): Iterable<Value> {
    for (const [key] of this.#entries.values()) yield key;
  }

  /** Only for code that builds the map. A map is immutable once an expression has it. */
  set(key: Value, value: Value): void {
    this.#entries.set(identityOf(key), [key, value]);
  }

  /** Only for code that builds the map, like {@linkcode EntryMap.set}. */
  delete(key: Value): void {
    this.#entries.delete(identityOf(key));
  }
}

/**
 * Returns the key of an entry in the JavaScript map. Strings and numbers of different types have
 * different keys; other objects are their own key. As in cel-go, a lookup of bytes is a fatal
 * error.
 */
function identityOf(key: Value): unknown {
  if (key instanceof Uint8Array) throw new Abort(NO_BYTES);
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "bigint") return key;
  if (typeof key === "number") return Number.isNaN(key) ? {} : `d${key}`;
  if (key instanceof Uint) return `u${key.value}`;
  if (key instanceof Timestamp) return `t${key.seconds}.${key.nanoseconds}.${key.offset}`;
  if (key instanceof DurationValue) return `p${key.nanoseconds}`;
  return key;
}

function sameNumbers(key: Value): readonly Value[] {
  if (typeof key === "bigint") return key < 0n ? [] : [new Uint(key)];
  if (key instanceof Uint) return key.value < 2n ** 63n ? [key.value] : [];
  if (typeof key !== "number" || !Number.isInteger(key)) return [];
  const whole = BigInt(key);
  const same: Value[] = [];
  if (key > -(2 ** 63) && key < 2 ** 63) same.push(whole);
  if (key >= 0 && key < 2 ** 64) same.push(new Uint(whole));
  return same;
}
