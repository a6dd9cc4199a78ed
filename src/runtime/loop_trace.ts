/** Records the writes and triggers of an object in a hot loop. */
import { equal } from "../base/json.ts";
import type { ReconcileReason } from "../parts/context.ts";
import type { AnyKind } from "../resource/kind.ts";
import type { ObjectKey } from "../watch/key.ts";
import { type FieldPath, printPath } from "./field_path.ts";
import type { Change } from "./tracing.ts";

// A field whose value was written again this many times counts as a loop.
const LOOP_REPEATS = 5;
// Maximum number of fields that are recorded per object. Two writers rarely conflict about more.
const MAX_FIELDS = 64;
// Maximum number of requests to find the other field manager. It may not have written when the
// first is sent.
const MAX_LOOKUPS = 3;

/** The object of a write. */
export interface Written {
  readonly kind: AnyKind;
  readonly key: ObjectKey;
}

/** Writes of one field. */
export interface FieldWrites {
  readonly target: Written;
  /** The field; empty if the object itself was created or deleted. */
  readonly path: FieldPath;
  /** Number of writes. */
  times: number;
  /** Number of consecutive writes of the same value. Another writer changed it in between. */
  repeats: number;
  /** The other field manager. */
  otherManager: string | undefined;
}

interface RecordedWrites extends FieldWrites {
  value: unknown;
}

/** The trigger of a reconcile. */
export interface LoopTrigger {
  readonly reason: ReconcileReason;
  readonly change: Change | undefined;
}

/** The writes and triggers of an object. */
export class LoopTrace {
  /** The trigger of the last reconcile. */
  trigger: LoopTrigger | undefined;
  /** Delay that the last reconcile requested, in milliseconds. */
  requeuedAfter: number | undefined;
  readonly #writes = new Map<string, RecordedWrites>();
  #lookups = 0;

  /**
   * Records a write.
   *
   * @param target The object that is written.
   * @param path The field; empty if the object itself is created or deleted.
   * @param value Its value. It is compared and never printed, because it may be secret.
   * @returns Whether the same value was written so often that the object is in a loop.
   */
  wrote(target: Written, path: FieldPath, value: unknown): boolean {
    const id = `${target.kind.apiVersion}/${target.kind.kind} ${target.key} ${printPath(path)}`;
    const known = this.#writes.get(id);
    if (known === undefined) {
      if (this.#writes.size < MAX_FIELDS) {
        this.#writes.set(id, { target, path, value, times: 1, repeats: 0, otherManager: undefined });
      }
      return false;
    }
    known.times++;
    if (equal(known.value, value)) known.repeats++;
    else known.repeats = 0;
    known.value = value;
    return known.repeats >= LOOP_REPEATS;
  }

  /** The field with the most repeated writes, or else the field with the most writes. */
  get busiest(): FieldWrites | undefined {
    return [...this.#writes.values()]
      .toSorted((one, other) => other.repeats - one.repeats || other.times - one.times)
      .find(({ times }) => times > LOOP_REPEATS);
  }

  /**
   * Returns the field whose other manager must be looked up now, or `undefined`. Each lookup counts
   * as an attempt.
   */
  lookup(target: Written): FieldWrites | undefined {
    const { busiest } = this;
    if (busiest === undefined || busiest.repeats === 0 || busiest.path.length === 0) return undefined;
    if (busiest.otherManager !== undefined || this.#lookups === MAX_LOOKUPS) return undefined;
    if (busiest.target.key !== target.key || busiest.target.kind !== target.kind) return undefined;
    this.#lookups++;
    return busiest;
  }
}

/** The effects of one reconcile that can cause the next one, and its waits. */
export class ReconcileEffects {
  /** The timers of calls of `sleep` that are waiting. */
  readonly sleeps = new Set<Disposable>();
  /** Whether it sent a write. */
  wrote = false;
  /**
   * Whether it wrote a value that it had written before and that another writer has changed since.
   */
  repeated = false;
  /** Records its writes; `undefined` for most objects. */
  readonly trace: LoopTrace | undefined;

  constructor(trace?: LoopTrace) {
    this.trace = trace;
  }

  /**
   * Cancels the sleeps that the reconcile did not wait for, such as a timeout in `Promise.race`.
   * Their timers would keep a program alive after the operator has stopped.
   */
  cancelSleeps(): void {
    for (const timer of this.sleeps) timer[Symbol.dispose]();
    this.sleeps.clear();
  }
}
