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
// An operator whose objects wake each other for ever is found by this.
const MOST_TURNS = 200_000;
// User code may wait for what is not ours: a file, a digest, a socket. It gets this long of real time before it is called stuck.
const LONGEST_FOREIGN_WAIT = 10_000;

/**
 * Makes what brings a memory cluster to rest.
 *
 * @param options What it looks at.
 */
export function stillness({ clock, server, running }: StillnessOptions): Stillness {
  return {
    async settle(until) {
      await still();
      while (clock.nextDue !== undefined && clock.nextDue <= until) {
        clock.step(until);
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
      for (let steps = 0; steps < MOST_TURNS; steps++) {
        await still(() => isSettled);
        if (isSettled) return void await promise;
        if (clock.nextDue !== undefined) clock.step(clock.nextDue);
      }
    },
  };

  async function still(isEnough: () => boolean = () => false): Promise<void> {
    let quiet = 0;
    let seen = happenings();
    const giveUp = performance.now() + LONGEST_FOREIGN_WAIT;
    for (let turns = 0; quiet < STILL_TURNS && !isEnough(); turns++) {
      if (turns > MOST_TURNS && performance.now() > giveUp) throw restless();
      await new Promise<void>((resolve) => setImmediate(resolve));
      const now = happenings();
      const { busy, waiting } = running();
      // A run whose request waits to be sent again is at rest for now: time has to move first.
      const isBusy = server.busy > 0 || busy.length > waiting;
      quiet = now === seen && !isBusy ? quiet + 1 : 0;
      seen = now;
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
    const { busy } = running();
    return new Error(`Cannot settle: there is always something more to do: ${busy.join("; ") || "requests go on"}`);
  }
}
