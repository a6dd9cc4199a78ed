/**
 * Notes where reconciles of a memory cluster read the machine's clock through `Date`. Nothing about `Date` changes: code in reconciles, and libraries that it
 * calls, measure real time with it. A test that depends on it sees another time than the cluster's, and gets told.
 */
import { currentRunLog } from "../runtime/current_run.ts";

// A place that reads the clock in a loop must not slow the test down.
const MOST_CALLS = 1000;
const MOST_PLACES = 5;

/** The wrappers that stand in for `Date`, with what they wrap. An entry never changes but for its end: a wrapper that has ended passes all calls on. */
const wrappers = new WeakMap<DateConstructor, { readonly wrapped: DateConstructor; isActive: boolean }>();

/** Notes uses of `Date` until it is disposed. */
export class DateUse implements Disposable {
  /** Where user code read the machine's clock in a reconcile, as a URL with line and column. */
  readonly places = new Set<string>();
  readonly #wrapper: DateConstructor;
  #calls = 0;

  constructor() {
    const wrapped = globalThis.Date;
    const state = { wrapped, isActive: true };
    const note = (caller: (...args: never) => unknown): void => {
      if (state.isActive && this.#calls < MOST_CALLS && currentRunLog() !== undefined) this.#note(caller);
    };
    const { now } = wrapped;
    const noted = (): number => {
      note(noted);
      return now.call(wrapped);
    };
    const handler: ProxyHandler<DateConstructor> = {
      construct(target, args, newTarget) {
        if (args.length === 0) note(handler.construct as (...args: never) => unknown);
        return Reflect.construct(target, args, newTarget === wrapper ? target : newTarget);
      },
      apply(target, self, args) {
        note(handler.apply as (...args: never) => unknown);
        return Reflect.apply(target, self, args);
      },
      // A test that replaces `Date.now` gets its own function.
      get: (target, key) => key === "now" && target.now === now ? noted : Reflect.get(target, key),
    };
    const wrapper: DateConstructor = new Proxy(wrapped, handler);
    wrappers.set(wrapper, state);
    this.#wrapper = globalThis.Date = wrapper;
  }

  /** What a message says about it; `undefined` if no reconcile read the machine's clock. */
  get hint(): string | undefined {
    if (this.places.size === 0) return undefined;
    const places = [...this.places].map((place) => `\n    at ${place}`).join("");
    return `A reconcile read the machine's clock (Date), which is not the time of the memory cluster. Use now() of its context instead:${places}`;
  }

  [Symbol.dispose](): void {
    wrappers.get(this.#wrapper)!.isActive = false;
    // Others may have been put on top meanwhile, by another cluster or by a library: they stay, and the last one to end takes all off.
    for (let state = wrappers.get(globalThis.Date); state?.isActive === false; state = wrappers.get(globalThis.Date)) {
      globalThis.Date = state.wrapped;
    }
  }

  #note(caller: (...args: never) => unknown): void {
    this.#calls++;
    if (this.places.size >= MOST_PLACES) return;
    const holder: { stack?: string } = {};
    Error.captureStackTrace(holder, caller);
    const place = userPlace(holder.stack ?? "");
    if (place !== undefined) this.places.add(place);
  }
}

// The folder of the SDK. It reads the time for logs, which concerns no test.
const SDK = new URL("../", import.meta.url).href;

/** The first frame that is no library's, if that is the user's code. */
function userPlace(stack: string): string | undefined {
  const places = [...stack.matchAll(/(?:\(|at )((?:file|https?):\/\/[^\s()]+:\d+:\d+)\)?$/gm)].map(([, place]) =>
    place!
  );
  const place = places.find((place) => place.startsWith("file:") && !LIBRARY.test(place));
  return place?.startsWith(SDK) ? undefined : place;
}

/** Packages of npm: in a project's folder, or in Deno's cache, below the host of the registry. */
const LIBRARY = /\/node_modules\/|\/npm\/[^/]+\.[^/]+\//;
