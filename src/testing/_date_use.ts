/**
 * Records where reconciles of a memory cluster read the machine's clock through `Date`.
 *
 * `Date` itself still returns real time, because reconciles and their libraries also measure
 * durations with it. A reconcile that uses it for time of day gets a different time than the
 * cluster's, so test failures mention the use.
 */
import { currentReconcileLog } from "../runtime/current_reconcile.ts";

// Code that reads the clock in a loop must not slow the test down.
const MAX_CALLS = 1000;
const MAX_PLACES = 5;

/**
 * The wrappers of `Date`, with the constructor that each wraps. Shared by all clusters, so that
 * they can be removed in any order. An inactive wrapper only forwards calls.
 */
const wrappers = new WeakMap<DateConstructor, { readonly wrapped: DateConstructor; isActive: boolean }>();

/** Records uses of `Date` until it is disposed of. */
export class DateUse implements Disposable {
  /** URLs, with line and column, where user code read the machine's clock in a reconcile. */
  readonly places = new Set<string>();
  readonly #wrapper: DateConstructor;
  #calls = 0;

  constructor() {
    const wrapped = globalThis.Date;
    const state = { wrapped, isActive: true };
    const record = (caller: (...args: never) => unknown): void => {
      if (state.isActive && this.#calls < MAX_CALLS && currentReconcileLog() !== undefined) this.#record(caller);
    };
    const { now } = wrapped;
    const recordedNow = (): number => {
      record(recordedNow);
      return now.call(wrapped);
    };
    const handler: ProxyHandler<DateConstructor> = {
      construct(target, args, newTarget) {
        if (args.length === 0) record(handler.construct as (...args: never) => unknown);
        return Reflect.construct(target, args, newTarget === wrapper ? target : newTarget);
      },
      apply(target, self, args) {
        record(handler.apply as (...args: never) => unknown);
        return Reflect.apply(target, self, args);
      },
      // If a test replaced `Date.now`, its function is returned.
      get: (target, key) => key === "now" && target.now === now ? recordedNow : Reflect.get(target, key),
    };
    const wrapper: DateConstructor = new Proxy(wrapped, handler);
    wrappers.set(wrapper, state);
    this.#wrapper = globalThis.Date = wrapper;
  }

  /** A hint for error messages; `undefined` if no reconcile read the machine's clock. */
  get hint(): string | undefined {
    if (this.places.size === 0) return undefined;
    const places = [...this.places].map((place) => `\n    at ${place}`).join("");
    return `A reconcile read the machine's clock (Date), which is not the clock of the memory cluster. Use now() of its context instead:${places}`;
  }

  [Symbol.dispose](): void {
    wrappers.get(this.#wrapper)!.isActive = false;
    // Another cluster or a library may have wrapped this wrapper. Then this wrapper is removed
    // together with the outermost one.
    for (let state = wrappers.get(globalThis.Date); state?.isActive === false; state = wrappers.get(globalThis.Date)) {
      globalThis.Date = state.wrapped;
    }
  }

  #record(caller: (...args: never) => unknown): void {
    this.#calls++;
    if (this.places.size >= MAX_PLACES) return;
    const holder: { stack?: string } = {};
    Error.captureStackTrace(holder, caller);
    const place = userPlace(holder.stack ?? "");
    if (place !== undefined) this.places.add(place);
  }
}

// The folder of the SDK, which reads the time for logs.
const SDK = new URL("../", import.meta.url).href;

/** Returns the first frame that is not in a library, if it is user code. */
function userPlace(stack: string): string | undefined {
  const places = [...stack.matchAll(/(?:\(|at )((?:file|https?):\/\/[^\s()]+:\d+:\d+)\)?$/gm)].map(([, place]) =>
    place!
  );
  const place = places.find((place) => place.startsWith("file:") && !LIBRARY.test(place));
  return place?.startsWith(SDK) ? undefined : place;
}

/**
 * Matches npm packages, in a folder of the project or in Deno's cache below the registry's host.
 */
const LIBRARY = /\/node_modules\/|\/npm\/[^/]+\.[^/]+\//;
