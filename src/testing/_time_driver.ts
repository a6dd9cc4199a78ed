/**
 * Runs the event loop and moves the virtual clock until a memory cluster is idle.
 *
 * A memory cluster does not wait for real time: a request is answered after some turns of the event
 * loop, and a change reaches its watch after some more. So the cluster is idle after a few turns
 * without activity, open requests and running reconciles.
 */
import type { VirtualClock } from "../base/virtual_clock.ts";
import type { Running } from "../operator/running.ts";
import { SettleError } from "./settle_error.ts";
import type { Turns } from "./_turns.ts";

/** Options for {@linkcode TimeDriver}. */
export interface TimeDriverOptions {
  readonly clock: VirtualClock;
  readonly server: { readonly activity: number; readonly busy: number };
  readonly wire: {
    /** Number of requests of reconciles that an injected fault delays until the clock moves. */
    readonly delayedRequests: number;
  };
  readonly turns: Turns;
  /** Returns the operator. It changes when the operator is restarted. */
  readonly running: () => Running;
  /** Number of turns with activity after which an operator counts as never idle. */
  readonly maxTurns: number;
}

// Turns without activity after which the cluster is idle. The body of a response takes one turn, an
// event of a watch two.
const IDLE_TURNS = 4;

// In milliseconds of real time. A busy reconcile may be waiting for the clock, or for a file or a
// socket. Before the clock moves, it is given this time once.
const EXTERNAL_GRACE = 100;

/** Runs a memory cluster until it is idle. */
export class TimeDriver {
  readonly #options: TimeDriverOptions;
  /** The last busy objects, for error messages. */
  #lastBusy: readonly string[] = [];
  /** The busy objects that were already given {@linkcode EXTERNAL_GRACE}. */
  #graceUsedBy: string | undefined;

  constructor(options: TimeDriverOptions) {
    this.#options = options;
  }

  /**
   * Runs until idle, and moves the clock to each timer that is due until a point in time. The clock
   * stops at the last of these timers.
   *
   * @param until Milliseconds since the epoch.
   * @param externalTimeout Milliseconds of real time that a reconcile may wait for something
   * outside the cluster.
   * @throws {SettleError} If the operator does not become idle.
   */
  async settle(until: number, externalTimeout: number): Promise<void> {
    const { clock, running, maxTurns } = this.#options;
    await this.#untilIdleOrThrow(externalTimeout);
    for (let steps = 0; clock.nextDue !== undefined && clock.nextDue <= until; steps++) {
      if (steps === maxTurns) throw this.#neverIdleError();
      const before = running().busy;
      clock.step(clock.nextDue);
      this.#lastBusy = running().busy.length > 0 ? running().busy : before;
      await this.#untilIdleOrThrow(externalTimeout);
    }
    this.#throwIfBusy();
    this.#throwIfHotLoop();
  }

  /**
   * Moves the clock to a point in time, and runs each timer that is due before.
   *
   * @param until Milliseconds since the epoch.
   * @throws {SettleError} If the operator is never idle.
   */
  async advance(until: number): Promise<void> {
    const { clock } = this.#options;
    await this.#untilIdle();
    while (clock.step(until)) await this.#untilIdle();
    await this.#untilIdle();
  }

  /**
   * Runs until a promise settles, and moves the clock as far as needed.
   *
   * @param promise The promise.
   */
  async until(promise: PromiseLike<unknown>): Promise<void> {
    const { clock, maxTurns } = this.#options;
    let isSettled = false;
    promise.then(() => isSettled = true, () => isSettled = true);
    for (let steps = 0; steps < maxTurns; steps++) {
      await this.#untilIdle(() => isSettled);
      if (isSettled) return void await promise;
      if (clock.nextDue !== undefined) clock.step(clock.nextDue);
    }
  }

  /**
   * Runs until idle. Throws if a reconcile waits for something outside the cluster for too long.
   */
  async #untilIdleOrThrow(externalTimeout: number): Promise<void> {
    if (!await this.#runTurns(() => false, externalTimeout)) this.#throwIfBusy();
  }

  /**
   * Runs until idle, or until only reconciles are left that may be waiting for the clock to move.
   */
  async #untilIdle(isDone: () => boolean = () => false): Promise<void> {
    const { running } = this.#options;
    const hadGrace = running().busy.join() === this.#graceUsedBy;
    const isIdle = await this.#runTurns(isDone, hadGrace ? 0 : EXTERNAL_GRACE);
    this.#graceUsedBy = isIdle ? undefined : running().busy.join();
  }

  /**
   * Runs turns of the event loop.
   *
   * @param isDone Ends the turns early.
   * @param externalTimeout Milliseconds of real time without activity after which to stop waiting
   * for reconciles.
   * @returns Whether the cluster is idle.
   */
  async #runTurns(isDone: () => boolean, externalTimeout: number): Promise<boolean> {
    const { server, wire, turns, running, maxTurns } = this.#options;
    let idleTurns = 0;
    let activeTurns = 0;
    let activity = this.#activity();
    let lastActive = performance.now();
    for (let unchanged = 0; idleTurns < IDLE_TURNS && !isDone(); unchanged++) {
      await (idleTurns === IDLE_TURNS - 1 ? turns.full() : turns.next());
      const before = activity;
      activity = this.#activity();
      const { busy, waiting } = running();
      if (busy.length > 0) this.#lastBusy = busy;
      if (activity !== before) {
        if (++activeTurns > maxTurns) throw this.#neverIdleError();
        lastActive = performance.now();
        unchanged = 0;
      }
      // A reconcile that sleeps, or whose request waits for a retry, does nothing until the clock
      // moves.
      const isBusy = server.busy > 0 || busy.length > waiting + wire.delayedRequests;
      idleTurns = activity === before && !isBusy ? idleTurns + 1 : 0;
      if (isBusy && unchanged > IDLE_TURNS && performance.now() - lastActive > externalTimeout) return false;
    }
    return true;
  }

  #activity(): number {
    return this.#options.server.activity + this.#options.running().activity;
  }

  #throwIfBusy(): void {
    const { busy, waiting } = this.#options.running();
    if (busy.length === 0) return;
    const waits = waiting + this.#options.wire.delayedRequests;
    const advice = waits > 0
      ? `${waits} of its requests or sleeps ${waits === 1 ? "waits" : "wait"} for the clock to move. Call advance()`
      : 'It waits for something outside the cluster. Make it return, or raise "externalTimeout"';
    throw new SettleError("StillBusy", busy, `Cannot settle: the operator is busy: ${busy.join("; ")}. ${advice}`);
  }

  #throwIfHotLoop(): void {
    const { delayed } = this.#options.running();
    if (delayed.length > 0) throw new SettleError("HotLoop", delayed, `Cannot settle: ${delayed.join("\n")}`);
  }

  #neverIdleError(): SettleError {
    this.#throwIfHotLoop();
    const last = this.#lastBusy.length === 0 ? "it sends requests" : this.#lastBusy.join("; ");
    return new SettleError(
      "NeverIdle",
      this.#lastBusy,
      `Cannot settle: the operator is never idle: ${last}. Let its reconciles end without triggering themselves, or raise "maxTurns"`,
    );
  }
}
