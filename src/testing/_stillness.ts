/**
 * When nothing is under way any more. All that happens in a memory cluster happens in turns of the event loop, without waiting: a request is
 * answered in some turns, a change reaches its watch in some more. So all is still when a few turns went by in which nothing happened, no request
 * is open, and no object is being reconciled.
 */
import type { VirtualClock } from "../base/virtual_clock.ts";
import type { Running } from "../operator/running.ts";
import type { Turns } from "./_turns.ts";

/** What stillness is told of. */
export interface StillnessOptions {
  readonly clock: VirtualClock;
  readonly server: { readonly activity: number; readonly busy: number };
  readonly running: () => Running;
  /** Requests of runs that a fault holds until time has moved. */
  readonly wire: { readonly held: number };
  readonly turns: Turns;
  /** Turns after which an operator that always has something more to do is given up. */
  readonly patience: number;
}

/** Brings a memory cluster to rest. */
export interface Stillness {
  /**
   * Runs what is due, and moves time to what falls due until then; time stays where the last of it happened.
   *
   * @param until Milliseconds since the epoch.
   * @param foreign Milliseconds of real time that user code may wait for what is not the cluster's: a file, a digest, a socket.
   */
  settle(until: number, foreign: number): Promise<void>;
  /** Moves time to a point, running what falls due on the way. */
  advance(until: number): Promise<void>;
  /** Runs what is due and lets time pass, as far as is needed for a promise to settle. */
  until(promise: PromiseLike<unknown>): Promise<void>;
}

// Turns without any happening after which all is taken to be still. A response's body takes one turn, a watch's event two.
const STILL_TURNS = 4;

// What a run that waits for something else gets of real time before the clock moves on past it, once.
const FOREIGN_MOMENT = 100;

/**
 * Makes what brings a memory cluster to rest.
 *
 * @param options What it looks at.
 */
export function stillness({ clock, server, running, wire, turns, patience }: StillnessOptions): Stillness {
  /** Who was busy when last anybody was. */
  let last: readonly string[] = [];
  /** The runs that the clock has moved past. */
  let hanging: string | undefined;
  return {
    async settle(until, foreign) {
      await still(foreign);
      for (let steps = 0; clock.nextDue !== undefined && clock.nextDue <= until; steps++) {
        if (steps === patience) throw restless();
        const due = clock.nextDue;
        const busiest = running().busy;
        clock.step(due);
        last = running().busy.length > 0 ? running().busy : busiest;
        await still(foreign);
      }
      refuseBusy();
      refuseLoops();
    },
    async advance(until) {
      await rest();
      while (clock.step(until)) await rest();
      await rest();
    },
    async until(promise) {
      let isSettled = false;
      promise.then(() => isSettled = true, () => isSettled = true);
      for (let steps = 0; steps < patience; steps++) {
        await rest(() => isSettled);
        if (isSettled) return void await promise;
        if (clock.nextDue !== undefined) clock.step(clock.nextDue);
      }
    },
  };

  /** Until nothing goes on; a run that waits for what is not the cluster's for too long is an error. */
  async function still(foreign: number): Promise<void> {
    if (!await turn(() => false, foreign)) refuseBusy();
  }

  /** Until nothing goes on, or only runs that may be waiting for time to move: a limit, a signal. They are given a moment once. */
  async function rest(isEnough: () => boolean = () => false): Promise<void> {
    const isWaitedFor = running().busy.join() === hanging;
    const isStill = await turn(isEnough, isWaitedFor ? 0 : FOREIGN_MOMENT);
    hanging = isStill ? undefined : running().busy.join();
  }

  /** Lets the event loop turn until all is still, or only runs go on in which nothing has happened for some real time; answers whether all is still. */
  async function turn(isEnough: () => boolean, foreign: number): Promise<boolean> {
    let quiet = 0;
    let lively = 0;
    let seen = happenings();
    let since = performance.now();
    for (let unchanged = 0; quiet < STILL_TURNS && !isEnough(); unchanged++) {
      await (quiet === STILL_TURNS - 1 ? turns.whole() : turns.next());
      const now = happenings();
      const { busy, waiting } = running();
      if (busy.length > 0) last = busy;
      if (now !== seen) {
        if (++lively > patience) throw restless();
        since = performance.now();
        unchanged = 0;
      }
      // A run whose request waits to be sent again is at rest for now: time has to move first.
      const isBusy = server.busy > 0 || busy.length > waiting + wire.held;
      quiet = now === seen && !isBusy ? quiet + 1 : 0;
      seen = now;
      if (isBusy && unchanged > STILL_TURNS && performance.now() - since > foreign) return false;
    }
    return true;
  }

  function happenings(): number {
    return server.activity + running().activity;
  }

  function refuseBusy(): void {
    const { busy, waiting } = running();
    if (busy.length === 0) return;
    const held = waiting + wire.held;
    const why = held > 0
      ? `${held} of their requests wait for time to pass, be it that the server asked for it: advance()`
      : "what do they wait for?";
    throw new Error(`Cannot settle: still busy: ${busy.join("; ")}: ${why}`);
  }

  function refuseLoops(): void {
    const { delayed } = running();
    if (delayed.length > 0) throw new Error(`Cannot settle: ${delayed.join("\n")}`);
  }

  function restless(): Error {
    refuseLoops();
    return new Error(`Cannot settle: there is always something more to do: ${last.join("; ") || "requests go on"}`);
  }
}
