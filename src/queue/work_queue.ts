/** Which object is reconciled next. It holds keys, not events: what happened to an object in the meantime is read when its run begins. */
import type { Clock } from "../base/clock.ts";

/** How soon a key is taken among those that are due: `fresh` before `initial` before `resync`. */
export type Priority = "fresh" | "initial" | "resync";

/** The priorities, most urgent first. */
export const PRIORITIES: readonly Priority[] = ["fresh", "initial", "resync"];

/** How a key is added. */
export interface AddOptions {
  /** @default {"fresh"} */
  readonly priority?: Priority;
  /** Whether it goes before the end of a backoff. A change of the object itself does; one of what it owns does not. @default {false} */
  readonly endsBackoff?: boolean;
  /** Whether it is a change of something that the object was said to depend on: it goes before the end of a backoff that yields to it. @default {false} */
  readonly isRelated?: boolean;
  /** Whether it ends the delay of an object that is reconciled over and over: its spec was changed, or it is being deleted. @default {false} */
  readonly endsPause?: boolean;
}

/** Delays keys that come again too often. */
export interface Limit {
  /** Returns how many milliseconds from now a key has to wait that is wanted in `delay` milliseconds; 0 if it does not. */
  pauseFor(key: string, delay?: number): number;
}

/** When a key is to run again. */
export interface Next<Reason> {
  /** In milliseconds. */
  readonly after: number;
  readonly reason: Reason;
  /** Whether it follows a failure: what is unrelated waits for the end of it. */
  readonly isBackoff: boolean;
  /** Of a backoff: whether what is related goes before its end. @default {false} */
  readonly yields?: boolean;
}

/** A key and why it is to run. */
export interface Work<Reason> {
  readonly key: string;
  readonly reason: Reason;
}

interface Waiting {
  readonly timer: Disposable;
  readonly next: Wait;
}

interface Wait extends Pick<Next<unknown>, "isBackoff" | "yields"> {
  /** Whether the key waits because it came too often. */
  readonly isPause?: boolean;
}

/**
 * A queue in which a key stands at most once, and of which at most one run goes on at a time. A key that is added during its run is run once
 * more after it, however often it was added.
 *
 * @typeParam Reason Why a key is to run; the first reason given is kept.
 */
export class WorkQueue<Reason> {
  readonly #clock: Clock;
  readonly #onReady: () => void;
  /** Keys that are due, oldest first, by priority. A key is in one of them at most. */
  readonly #ready: Record<Priority, Map<string, Reason>> = { fresh: new Map(), initial: new Map(), resync: new Map() };
  /** Keys that are due later. A key is not here and in `#ready` at once. */
  readonly #later = new Map<string, Waiting>();
  /** Keys whose run goes on, each with what came in meanwhile. */
  readonly #running = new Map<
    string,
    { again: { reason: Reason; options: AddOptions } | undefined; isDropped: boolean }
  >();
  /** When each key that is due became so, where somebody wants to know how long they wait. */
  readonly #since = new Map<string, number>();
  readonly #onTaken: ((waited: number) => void) | undefined;
  readonly #limit: Limit | undefined;
  #isClosed = false;
  /** How many keys have become due so far. */
  adds = 0;
  /** How many times a key was to run again after a failure. */
  retries = 0;

  /**
   * @param clock Tells when a key is due.
   * @param onReady Called when a key has become due: {@linkcode take} will answer one, unless it was taken meanwhile.
   * @param onTaken Told of each key that is taken: for how many milliseconds it was due.
   * @param limit Delays keys that come again too often. @default {none}
   */
  constructor(clock: Clock, onReady: () => void, onTaken?: (waited: number) => void, limit?: Limit) {
    this.#clock = clock;
    this.#onReady = onReady;
    this.#onTaken = onTaken;
    this.#limit = limit;
  }

  /** How many keys of a priority are due. */
  depthOf(priority: Priority): number {
    return this.#ready[priority].size;
  }

  /** How many keys are due. */
  get depth(): number {
    return PRIORITIES.reduce((sum, priority) => sum + this.#ready[priority].size, 0);
  }

  /** Keys whose run goes on. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Keys that were wanted and wait because they came too often. */
  get paused(): readonly string[] {
    return [...this.#later].filter(([, { next }]) => next.isPause).map(([key]) => key);
  }

  /** Adds a key that is due now. */
  add(key: string, reason: Reason, options: AddOptions = {}): void {
    if (this.#isClosed) return;
    const run = this.#running.get(key);
    if (run !== undefined) {
      run.isDropped = false;
      run.again = { reason: run.again?.reason ?? reason, options: merge(run.again?.options, options) };
      return;
    }
    const waiting = this.#later.get(key);
    if (holds(waiting?.next, options)) return;
    const pause = options.endsPause || this.#isReady(key) ? 0 : this.#limit?.pauseFor(key) ?? 0;
    this.#forgetLater(key);
    if (pause > 0) this.#wait(key, reason, pause, { isBackoff: false, isPause: true });
    else this.#addReady(key, reason, options.priority ?? "fresh");
  }

  /** Takes the next key that is due; its run begins, and ends with {@linkcode done}. */
  take(): Work<Reason> | undefined {
    for (const priority of PRIORITIES) {
      for (const [key, reason] of this.#ready[priority]) {
        this.#ready[priority].delete(key);
        this.#running.set(key, { again: undefined, isDropped: false });
        this.#tellTaken(key);
        return { key, reason };
      }
    }
    return undefined;
  }

  /**
   * Ends the run of a key.
   *
   * @param key The key.
   * @param next When it is to run again, if at all. What was added during the run goes first.
   */
  done(key: string, next?: Next<Reason>): void {
    const run = this.#running.get(key);
    this.#running.delete(key);
    if (this.#isClosed) return;
    const again = run?.again;
    // One run follows, not two: what came in during the run makes it, unless it has to wait for the end of a backoff.
    if (again !== undefined && !holds(next, again.options)) {
      this.add(key, again.reason, again.options);
    } else if (next !== undefined && !run?.isDropped) this.#addLater(key, next);
  }

  /** Drops a key: its object is gone. A run that goes on ends as it likes, and is not followed by another. */
  drop(key: string): void {
    this.#forgetLater(key);
    for (const priority of PRIORITIES) this.#ready[priority].delete(key);
    this.#since.delete(key);
    const run = this.#running.get(key);
    if (run === undefined) return;
    run.again = undefined;
    run.isDropped = true;
  }

  /** Takes nothing more in, and gives out nothing more. */
  close(): void {
    this.#isClosed = true;
    for (const key of [...this.#later.keys()]) this.#forgetLater(key);
    for (const priority of PRIORITIES) this.#ready[priority].clear();
    this.#since.clear();
  }

  #addReady(key: string, reason: Reason, priority: Priority): void {
    for (const other of PRIORITIES) {
      const held = this.#ready[other].get(key);
      if (held === undefined) continue;
      if (PRIORITIES.indexOf(other) <= PRIORITIES.indexOf(priority)) return;
      this.#ready[other].delete(key);
      this.#ready[priority].set(key, held);
      return;
    }
    this.#ready[priority].set(key, reason);
    this.adds++;
    if (this.#onTaken !== undefined) this.#since.set(key, this.#clock.elapsed());
    this.#onReady();
  }

  #tellTaken(key: string): void {
    const since = this.#since.get(key);
    if (since === undefined) return;
    this.#since.delete(key);
    this.#onTaken?.(this.#clock.elapsed() - since);
  }

  #isReady(key: string): boolean {
    return PRIORITIES.some((priority) => this.#ready[priority].has(key));
  }

  #addLater(key: string, { after, reason, isBackoff, yields }: Next<Reason>): void {
    if (isBackoff) this.retries++;
    const pause = this.#limit?.pauseFor(key, after) ?? 0;
    const wait = { isBackoff, ...(yields === undefined ? {} : { yields }), isPause: pause > after };
    this.#wait(key, reason, Math.max(after, pause), wait);
  }

  #wait(key: string, reason: Reason, after: number, next: Wait): void {
    // Also what is due at once goes through the clock: an object that always asks for more must leave the others, and the process, their turns.
    const timer = this.#clock.after(after, () => {
      this.#later.delete(key);
      this.#addReady(key, reason, "fresh");
    });
    this.#later.set(key, { timer, next });
  }

  #forgetLater(key: string): void {
    this.#later.get(key)?.timer[Symbol.dispose]();
    this.#later.delete(key);
  }
}

/** Whether a wait goes on although a key was added. */
function holds(wait: Wait | undefined, added: AddOptions): boolean {
  if (wait?.isPause) return !added.endsPause;
  return Boolean(wait?.isBackoff && !added.endsBackoff && !(wait.yields && added.isRelated));
}

function merge(held: AddOptions | undefined, added: AddOptions): AddOptions {
  const priorities = [held?.priority ?? "resync", added.priority ?? "fresh"] as const;
  return {
    priority: PRIORITIES.find((priority) => priorities.includes(priority))!,
    endsBackoff: Boolean(held?.endsBackoff || added.endsBackoff),
    isRelated: Boolean(held?.isRelated || added.isRelated),
    endsPause: Boolean(held?.endsPause || added.endsPause),
  };
}
