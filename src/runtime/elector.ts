/**
 * Elects a leader with a Lease: one process of an operator reconciles, the others stand by with
 * synced caches.
 *
 * A leader that cannot renew its lease stops leading before another process can take the lease. It
 * measures that by its own clock. Later writes are rejected ({@linkcode Elector.fence}), even if
 * the process was frozen in the middle of a reconcile. The process then stands by and may lead
 * again.
 *
 * Source: client-go `tools/leaderelection`; the fence is ours.
 */
import { type Clock, sleep } from "../base/clock.ts";
import { linked } from "../base/abort.ts";
import { Lease } from "../kinds/coordination_v1.gen.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import type { Input } from "../resource/kind.ts";
import { type LeaseSpec, type LeaseTimes, mayTake, nextTry, releasedLease, renewedLease } from "./lease.ts";
import type { Logger } from "./logger.ts";

/** Options of {@linkcode Elector}. */
export interface ElectorOptions extends LeaseTimes {
  /**
   * The client. Its writes must not be fenced, because a process that does not lead yet writes the
   * lease.
   */
  readonly client: Client;
  readonly clock: Clock;
  /** Returns a random number from 0 to 1 that spreads delays. */
  readonly random: () => number;
  readonly log: Logger;
  readonly name: string;
  readonly namespace: string;
  /** Unique identity of this process. */
  readonly identity: string;
}

/**
 * Thrown inside the runtime when a process that does not lead tries to write.
 */
export class NotLeadingError extends Error {
  override name = "NotLeadingError";
}

/** The last version of the lease that this process read or wrote. */
interface ObservedLease {
  readonly spec: LeaseSpec;
  readonly resourceVersion: string;
  /** When this version was first observed, in monotonic milliseconds. */
  readonly at: number;
}

/** A term in which this process leads. */
interface Term {
  readonly abort: AbortController;
  /** When the last renewal was sent, by the wall clock and the monotonic clock. */
  renewed: Moment;
}

/** A time by both clocks, in milliseconds. */
interface Moment {
  readonly now: number;
  readonly elapsed: number;
}

/** A candidate for leadership. */
export class Elector {
  /** Number of reads and writes of the lease that succeeded. */
  activity = 0;
  /** Number of renewals that failed at the first attempt. */
  slowPaths = 0;
  readonly #options: ElectorOptions;
  #observed: ObservedLease | undefined;
  #term: Term | undefined;

  constructor(options: ElectorOptions) {
    this.#options = options;
  }

  /** Name of the lease. */
  get name(): string {
    return this.#options.name;
  }

  /** Identity of the last known leader. */
  get holder(): string | undefined {
    return this.#observed?.spec.holderIdentity || undefined;
  }

  /** Whether this process leads, by its own clock. */
  get isLeading(): boolean {
    return this.#term !== undefined && !this.#term.abort.signal.aborted && !this.#isOver(this.#term);
  }

  /**
   * Throws if this process does not lead. Called before each write.
   * @throws {NotLeadingError}
   */
  readonly fence = (): void => {
    if (this.isLeading) return;
    this.#endTerm("the lease was not renewed in time");
    throw new NotLeadingError("Write rejected: this process is not the leader");
  };

  /**
   * Stands by until this process leads, runs `lead`, and repeats both until the signal is aborted.
   *
   * @param signal When aborted, ends the election. The lease is released after `lead` has ended.
   * @param lead Called for each term. It must end when its signal is aborted.
   */
  async run(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>): Promise<void> {
    while (await this.#acquire(signal)) {
      const term = this.#term!;
      const renewing = this.#renew(term);
      try {
        await lead(term.abort.signal);
        if (signal.aborted && this.isLeading) await this.#release();
      } finally {
        term.abort.abort(new DOMException("The leadership term has ended", "AbortError"));
        await renewing;
        this.#term = undefined;
      }
    }
  }

  /** Waits until this process holds the lease. Returns `false` if the signal is aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, log, random, retryPeriod, identity, namespace, name } = this.#options;
    let lastLogged: string | undefined;
    while (!signal.aborted) {
      const moment = this.#moment();
      try {
        if (await this.#tryOnce(signal)) {
          this.#term = { abort: new AbortController(), renewed: moment };
          if (this.isLeading) {
            log.info("Leadership gained", { lease: `${namespace}/${name}`, identity });
            return true;
          }
        }
        if (this.holder !== lastLogged && this.holder !== identity) {
          lastLogged = this.holder;
          log.info("Standing by", { lease: `${namespace}/${name}`, leader: lastLogged ?? "none yet" });
        }
      } catch (error) {
        if (signal.aborted) break;
        const message = (error as Error).message;
        if (message !== lastLogged) log.warn("Lease request failed", { lease: `${namespace}/${name}`, error: message });
        lastLogged = message;
      }
      await sleep(clock, nextTry(retryPeriod, random()), signal).catch(() => undefined);
    }
    return false;
  }

  /** Renews the lease until the term ends. */
  async #renew(term: Term): Promise<void> {
    const { clock, renewDeadline, retryPeriod, log } = this.#options;
    const { signal } = term.abort;
    let watchdog = clock.after(renewDeadline, () => this.#endTerm("the lease could not be renewed"));
    while (!signal.aborted) {
      await sleep(clock, retryPeriod, signal).catch(() => undefined);
      if (signal.aborted) break;
      if (this.#isOver(term)) {
        this.#endTerm("the process was suspended for too long");
        break;
      }
      const moment = this.#moment();
      try {
        if (!await this.#tryOnce(signal)) {
          this.#endTerm(this.holder === undefined ? "the lease has no holder" : `${this.holder} holds the lease`);
        } else if (!signal.aborted) {
          term.renewed = moment;
          watchdog[Symbol.dispose]();
          watchdog = clock.after(
            Math.max(0, renewDeadline - this.#since(moment)),
            () => this.#endTerm("the lease could not be renewed"),
          );
        }
      } catch (error) {
        if (!signal.aborted) log.debug("Lease not renewed", { error: (error as Error).message });
      }
    }
    watchdog[Symbol.dispose]();
  }

  #endTerm(reason: string): void {
    const { abort } = this.#term ?? {};
    if (abort === undefined || abort.signal.aborted) return;
    this.#options.log.warn("Leadership lost", { reason });
    abort.abort(new DOMException("This process is no longer the leader", "AbortError"));
  }

  /** Tries once to take or renew the lease. Returns whether this process holds it. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseDuration, renewDeadline } = this.#options;
    using limit = linked([signal]);
    // A request that gets no response must leave time for another attempt.
    using _timer = clock.after(renewDeadline / 2, () => limit.abort(new DOMException("No answer", "TimeoutError")));
    const observed = this.#observed;
    if (observed?.spec.holderIdentity === identity) {
      try {
        return await this.#write(
          observed,
          renewedLease(observed.spec, identity, leaseDuration, clock.now()),
          limit.signal,
        );
      } catch (error) {
        if (!isStatus(error, 409) && !isStatus(error, 404)) throw error;
        this.slowPaths++;
      }
    }
    const lease = await this.#read(limit.signal);
    const spec = renewedLease(lease?.spec, identity, leaseDuration, clock.now());
    if (lease !== undefined && !mayTake(lease.spec, clock.elapsed() - lease.at, identity)) return false;
    try {
      return await this.#write(lease, spec, limit.signal);
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      // Another process was faster. The read shows which one.
      await this.#read(limit.signal);
      return false;
    }
  }

  async #read(signal: AbortSignal): Promise<ObservedLease | undefined> {
    const { client, name, namespace } = this.#options;
    try {
      const { spec, metadata } = await client.get(Lease, name, { namespace, signal });
      this.#observe((spec ?? {}) as LeaseSpec, metadata.resourceVersion);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      this.#observed = undefined;
    }
    return this.#observed;
  }

  async #write(before: ObservedLease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<true> {
    const { client, name, namespace } = this.#options;
    const stored = before === undefined
      ? await client.create(Lease, { metadata: { name }, spec } as Input<typeof Lease>, { namespace, signal })
      : await client.patch(Lease, name, { metadata: { resourceVersion: before.resourceVersion }, spec }, {
        namespace,
        signal,
      });
    this.#observe(spec, stored.metadata.resourceVersion);
    return true;
  }

  #observe(spec: LeaseSpec, resourceVersion: string): void {
    this.activity++;
    if (this.#observed?.resourceVersion === resourceVersion) return;
    this.#observed = { spec, resourceVersion, at: this.#options.clock.elapsed() };
  }

  async #release(): Promise<void> {
    const { clock, log, renewDeadline, namespace, name, identity } = this.#options;
    using limit = linked([]);
    using _timer = clock.after(renewDeadline / 2, () => limit.abort(new DOMException("No answer", "TimeoutError")));
    // No other write is allowed from here on.
    this.#term?.abort.abort(new DOMException("The operator stops", "AbortError"));
    try {
      // Read again: a pending renewal may have reached the API server.
      const lease = await this.#read(limit.signal);
      if (lease?.spec.holderIdentity !== identity) return;
      await this.#write(lease, releasedLease(clock.now()), limit.signal);
      log.info("Lease released", { lease: `${namespace}/${name}` });
    } catch (error) {
      log.warn("Lease not released", { error: (error as Error).message });
    }
  }

  #moment(): Moment {
    const { clock } = this.#options;
    return { now: clock.now(), elapsed: clock.elapsed() };
  }

  #isOver({ renewed }: Term): boolean {
    return this.#since(renewed) >= this.#options.renewDeadline;
  }

  /**
   * Returns the milliseconds since a moment, by the clock that advanced more: the wall clock may be
   * set back, and the monotonic clock stops while the machine sleeps.
   */
  #since({ now, elapsed }: Moment): number {
    const { clock } = this.#options;
    return Math.max(clock.now() - now, clock.elapsed() - elapsed);
  }
}
