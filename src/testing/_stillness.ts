/**
 * When nothing is under way any more. All that happens in a memory cluster happens in turns of the event loop, without waiting: a request is
 * answered in some turns, a change reaches its watch in some more. So all is still when a few turns went by in which nothing happened, no request
 * is open, and no object is being reconciled.
 */
import { setImmediate } from "node:timers";
import type { VirtualClock } from "../base/virtual_clock.ts";
import type { Running } from "../operator/running.ts";

/** What stillness is told of. */
export interface StillnessOptions {
  readonly clock: VirtualClock;
  readonly server: { readonly activity: number; readonly busy: number };
  readonly running: () => Running;
  /** Turns after which an operator that always has something more to do is given up. */
  readonly patience: number;
}

/** Brings a memory cluster to rest. */
export interface Stillness {
  /** Runs what is due, and moves time to what falls due until then; time stays where the last of it happened. */
  settle(until: number): Promise<void>;
  /** Moves time to a point, running what falls due on the way. */
  advance(until: number): Promise<void>;
  /** Runs what is due and lets time pass, as far as is needed for a promise to settle. */
  until(promise: PromiseLike<unknown>): Promise<void>;
}

// Turns without any happening after which all is taken to be still. A response's body takes one turn, a watch's event two.
const STILL_TURNS = 4;
// User code may wait for what is not ours: a file, a digest, a socket. It gets this long of real time before it is called stuck.
const LONGEST_FOREIGN_WAIT = 10_000;

/**
 * Makes what brings a memory cluster to rest.
 *
 * @param options What it looks at.
 */
export function stillness({ clock, server, running, patience }: StillnessOptions): Stillness {
  /** Who was busy when last anybody was. */
  let last: readonly string[] = [];
  return {
    async settle(until) {
      await still();
      for (let steps = 0; clock.nextDue !== undefined && clock.nextDue <= until; steps++) {
        if (steps === patience) throw restless();
        const due = clock.nextDue;
        const busiest = running().busy;
        clock.step(due);
        last = running().busy.length > 0 ? running().busy : busiest;
        await still();
      }
      refuseBusy();
    },
    async advance(until) {
      await still();
      while (clock.step(until)) await still();
      await still();
    },
    async until(promise) {
      let isSettled = false;
      promise.then(() => isSettled = true, () => isSettled = true);
      for (let steps = 0; steps < patience; steps++) {
        await still(() => isSettled);
        if (isSettled) return void await promise;
        if (clock.nextDue !== undefined) clock.step(clock.nextDue);
      }
    },
  };

  async function still(isEnough: () => boolean = () => false): Promise<void> {
    let quiet = 0;
    let lively = 0;
    let seen = happenings();
    let since = performance.now();
    while (quiet < STILL_TURNS && !isEnough()) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const now = happenings();
      const { busy, waiting } = running();
      if (busy.length > 0) last = busy;
      if (now !== seen) {
        if (++lively > patience) throw restless();
        since = performance.now();
      }
      // A run whose request waits to be sent again is at rest for now: time has to move first.
      const isBusy = server.busy > 0 || busy.length > waiting;
      quiet = now === seen && !isBusy ? quiet + 1 : 0;
      seen = now;
      if (isBusy && performance.now() - since > LONGEST_FOREIGN_WAIT) refuseBusy();
    }
  }

  function happenings(): number {
    return server.activity + running().activity;
  }

  function refuseBusy(): void {
    const { busy } = running();
    if (busy.length > 0) throw new Error(`Cannot settle: still busy: ${busy.join("; ")}: what do they wait for?`);
  }

  function restless(): Error {
    return new Error(`Cannot settle: there is always something more to do: ${last.join("; ") || "requests go on"}`);
  }
}
