/** Maps that expressions make. */
import { Abort } from "./outcome.ts";
import { DurationValue, MapValue, Timestamp, Uint, type Value } from "./value.ts";

/** What Go says of bytes as a key, which end the whole evaluation. */
export const NO_BYTES = "internal error: runtime error: hash of unhashable type types.Bytes";

/** A map that an expression made. Two keys that are equal numbers of different types are two keys, but either finds the other where it is alone. */
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

  /** For those that make the map only: a map does not change once an expression has it. */
  set(key: Value, value: Value): void {
    this.#entries.set(identityOf(key), [key, value]);
  }

  /** As {@linkcode EntryMap.set}. */
  delete(key: Value): void {
    this.#entries.delete(identityOf(key));
  }
}

/** Text and numbers of different types must not meet; objects are themselves only. cel-go did not expect that bytes are looked for. */
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
