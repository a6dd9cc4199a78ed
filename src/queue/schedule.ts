/** Schedules many callbacks with a single timer of the clock. */
import type { Clock } from "../base/clock.ts";
import { type DueEntry, DueHeap } from "../base/due_heap.ts";

/** A callback that waits for its due time. */
interface Task {
  readonly callback: () => void;
  isCanceled: boolean;
}

/**
 * Calls callbacks at their due times. The clock has one timer, for the earliest callback,
 * regardless of how many are waiting.
 *
 * Callbacks run in the order of their due times. Callbacks with equal due times run in the order in
 * which they were added. A callback that adds another one with a delay of 0 does not prevent other
 * timers of the process from running.
 */
export class Schedule implements Disposable {
  readonly #clock: Clock;
  /** Ordered by due time, in milliseconds of `Clock.elapsed`. */
  readonly #tasks = new DueHeap<Task>();
  /** The timer of the earliest task. */
  #timer: { readonly due: number; readonly handle: Disposable } | undefined;
  #isDisposed = false;

  /** @param clock Measures delays. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of callbacks that wait. */
  get size(): number {
    return this.#tasks.size;
  }

  /**
   * Calls `callback` once after at least `delay` milliseconds.
   *
   * @param delay The delay in milliseconds.
   * @param callback The callback. It must not throw.
   * @returns Cancels the call when disposed. Disposing it after the call has no effect.
   */
  after(delay: number, callback: () => void): Disposable {
    const task: Task = { callback, isCanceled: false };
    const entry = this.#tasks.add(this.#clock.elapsed() + Math.max(0, delay), task);
    this.#arm();
    return { [Symbol.dispose]: () => this.#cancel(entry) };
  }

  /** Cancels all callbacks. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#tasks.clear();
    this.#arm();
  }

  #cancel(entry: DueEntry<Task>): void {
    entry.value.isCanceled = true;
    if (this.#tasks.delete(entry)) this.#arm();
  }

  #arm(): void {
    const due = this.#tasks.first?.due;
    if (due === this.#timer?.due) return;
    this.#timer?.handle[Symbol.dispose]();
    this.#timer = due === undefined
      ? undefined
      : { due, handle: this.#clock.after(due - this.#clock.elapsed(), () => this.#runDue()) };
  }

  #runDue(): void {
    this.#timer = undefined;
    const now = this.#clock.elapsed();
    // The due tasks are removed before any callback runs, so that a task that a callback adds waits
    // for the next timer, even with a delay of 0.
    const due: Task[] = [];
    for (let entry = this.#tasks.first; entry !== undefined && entry.due <= now; entry = this.#tasks.first) {
      this.#tasks.delete(entry);
      due.push(entry.value);
    }
    for (const task of due) if (!task.isCanceled && !this.#isDisposed) task.callback();
    this.#arm();
  }
}
