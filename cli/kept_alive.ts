/**
 * Finds resources that a file starts at its top level and never stops, such as an interval. They
 * keep the process alive. A command that loads the file reports them instead of waiting forever.
 */

/** A resource that keeps a process alive. */
export interface KeptAlive {
  /** Its type: `interval`, `timeout`, `signal listener`, `file watcher`, `worker`, `socket`. */
  readonly type: string;
  /** The position where it was started, such as `file:///shop/main.ts:3:16`, if it is known. */
  readonly place?: string;
}

/**
 * JavaScript code that records the resources that a module starts. It defines `keptAlive()`, which
 * returns a list of {@linkcode KeptAlive}, without resources that were stopped or unreferenced
 * (`unref`). While the list is not empty, the code calls `pollKeptAlive()` four times a second. The
 * surrounding code must define that function.
 */
export const RECORD_KEPT_ALIVE = `
const keptAlive = await (async () => {
  const process = (await import("node:process")).default;
  const { setInterval, clearInterval } = globalThis;
  const { unrefTimer } = Deno;
  const live = new Map();
  // The timer runs only while there are entries: Deno reports an await that can never finish only
  // if no timer is set.
  let polling = false;
  const note = (key, kept) => {
    live.set(key, kept);
    if (polling) return;
    polling = true;
    const timer = setInterval(() => {
      if (live.size > 0) return pollKeptAlive();
      polling = false;
      clearInterval(timer);
    }, 250);
    unrefTimer(timer);
  };
  const placeOf = () => {
    const places = [...(new Error().stack ?? "").matchAll(/^ +at (?:.*\\()?(\\w+:[^()\\s]+:\\d+:\\d+)\\)?$/gm)].map(([, place]) => place);
    return places.find((place) => /^(file|https?):/.test(place) && !place.includes("$deno$"));
  };
  const intercept = (owner, name, handler) => {
    if (owner[name] !== undefined) owner[name] = new Proxy(owner[name], handler);
  };
  const timer = (type) => ({
    apply(target, self, [callback, ...more]) {
      const fired = (...args) => {
        if (type === "timeout") live.delete(id);
        return callback(...args);
      };
      const id = Reflect.apply(target, self, [typeof callback === "function" ? fired : callback, ...more]);
      note(id, { type, place: placeOf() });
      if (typeof id === "object") {
        const { unref } = id;
        id.unref = () => (live.delete(id), unref.call(id));
      }
      return id;
    },
  });
  const stop = {
    apply(target, self, args) {
      // A timer can also be cleared by its number.
      for (const id of live.keys()) if (id === args[0] || (Number.isFinite(+id) && +id === +args[0])) live.delete(id);
      return Reflect.apply(target, self, args);
    },
  };
  intercept(globalThis, "setInterval", timer("interval"));
  intercept(globalThis, "setTimeout", timer("timeout"));
  for (const name of ["clearInterval", "clearTimeout"]) intercept(globalThis, name, stop);
  intercept(Deno, "unrefTimer", stop);
  intercept(Deno, "addSignalListener", {
    apply(target, self, args) {
      note(args[1], { type: "signal listener", place: placeOf() });
      return Reflect.apply(target, self, args);
    },
  });
  intercept(Deno, "removeSignalListener", {
    apply(target, self, args) {
      live.delete(args[1]);
      return Reflect.apply(target, self, args);
    },
  });
  intercept(Deno, "watchFs", {
    apply(target, self, args) {
      const watcher = Reflect.apply(target, self, args);
      note(watcher, { type: "file watcher", place: placeOf() });
      const { close } = watcher;
      watcher.close = () => (live.delete(watcher), close.call(watcher));
      return watcher;
    },
  });
  intercept(globalThis, "Worker", {
    construct(target, args, self) {
      const worker = Reflect.construct(target, args, self);
      note(worker, { type: "worker", place: placeOf() });
      const { terminate } = worker;
      worker.terminate = () => (live.delete(worker), terminate.call(worker));
      return worker;
    },
  });
  return () => {
    const known = [...live.values()];
    const timers = known.filter(({ type }) => type === "interval" || type === "timeout").length;
    // Libraries for Node.js can open such resources without the functions above.
    const resources = process.getActiveResourcesInfo?.() ?? [];
    const others = resources.filter((name) => name !== "Timeout").map(() => ({ type: "socket" }));
    const more = Math.max(0, resources.length - others.length - timers);
    return [...known, ...Array.from({ length: more }, () => ({ type: "timer" })), ...others];
  };
})();
`;

/**
 * Formats a list of resources: `1 interval (main.ts:3:1), 2 timers`.
 *
 * @param kept The resources.
 * @param traced Formats a position.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const timer = { type: "timer" };
 * const kept = [{ type: "interval", place: "file:///shop/main.ts:3:1" }, timer, timer];
 * const text = keptAliveText(kept, (place) => place.replace("file:///shop/", ""));
 * assert.equal(text, "1 interval (main.ts:3:1), 2 timers");
 * ```
 */
export function keptAliveText(kept: readonly KeptAlive[], traced: (place: string) => string): string {
  return [...new Set(kept.map(({ type }) => type))].map((type) => {
    const same = kept.filter((one) => one.type === type);
    const places = [...new Set(same.flatMap(({ place }) => place === undefined ? [] : [traced(place)]))];
    const shown = places.length > MAX_PLACES ? [...places.slice(0, MAX_PLACES), "..."] : places;
    return `${same.length} ${type}${same.length === 1 ? "" : "s"}${shown.length === 0 ? "" : ` (${shown.join(", ")})`}`;
  }).join(", ");
}

const MAX_PLACES = 3;
