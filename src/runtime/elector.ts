/**
 * Elects a leader with a Lease: one process of an operator reconciles, the others stand by with
 * synced caches.
 *
 * A leader that cannot renew its lease stops leading before another process can take the lease. It
 * measures that by its own clock. Later writes are rejected ({@linkcode Elector.fence}), even if
 * the process was frozen in the middle of a reconcile. The process then stands by and may lead
 * again.
 *
 * Annotations of the Lease coordinate the processes beyond that (`lease_annotations.ts`): a process
 * with a higher priority may ask the leader to yield, and a user may pause the operator.
 *
 * Source: client-go `tools/leaderelection`; the fence and the annotations are ours.
 */
import { type Clock, sleep } from "../base/clock.ts";
import { linked } from "../base/abort.ts";
import { equal } from "../base/json.ts";
import { Lease } from "../kinds/coordination_v1.gen.ts";
import { isStatus } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import type { Input } from "../resource/kind.ts";
import {
  type LeaseSpec,
  type LeaseTimes,
  mayTake,
  microTime,
  mustDefer,
  mustYield,
  nextTry,
  releasedLease,
  renewedLease,
} from "./lease.ts";
import {
  leaseAnnotations,
  type LeaseState,
  leaseState,
  type LeaseStateChanges,
  type OperatorPause,
} from "./lease_annotations.ts";
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
  /** Uses the annotations of the lease. @default {none: they are ignored} */
  readonly coordination?: Coordination;
}

/** How a process uses the annotations of its operator's lease. */
export interface Coordination {
  /** The operator's name. */
  readonly operator: string;
  readonly priority: number;
  /** Whether this process asks a leader with a lower priority to yield. */
  readonly takeOver: boolean;
  /** Called when the operator is paused, and with `undefined` when it is resumed. */
  onPause(pause: OperatorPause | undefined): void;
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
  readonly state: LeaseState;
  readonly resourceVersion: string;
  /**
   * When this `spec` was first observed, in monotonic milliseconds. Annotations do not count:
   * otherwise the requests of a waiting process would extend the lease of a leader that crashed.
   */
  readonly at: number;
  /** When this request to take over was first observed, in monotonic milliseconds. */
  readonly requestedAt: number;
}

/** A write of the lease. */
interface LeaseWrite {
  /** @default {unchanged} */
  readonly spec?: LeaseSpec;
  /** Changes of the annotations. */
  readonly changes?: LeaseStateChanges;
}

type Annotations = Readonly<Record<string, string>>;

const NO_STATE: LeaseState = { priority: undefined, takeOver: undefined, pause: undefined };

/** A term in which this process leads. */
interface Term {
  readonly abort: AbortController;
  /** Aborted when this process yields to another one: it finishes its work and ends the term. */
  readonly yielding: AbortController;
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
  /**
   * When the Lease was renewed last before this process acquired it, in milliseconds since the
   * epoch; `undefined` if there was no Lease.
   */
  lastRenewedAt: number | undefined;
  readonly #options: ElectorOptions;
  #observed: ObservedLease | undefined;
  #term: Term | undefined;
  /** The pause that was reported last. */
  #pause: OperatorPause | undefined;

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

  /** The pause of the operator that is in effect. */
  get pause(): OperatorPause | undefined {
    return this.#pause;
  }

  /** The process to which this one yields. */
  get yieldsTo(): string | undefined {
    return this.#term?.yielding.signal.aborted ? this.#observed?.state.takeOver?.by : undefined;
  }

  /**
   * The priority of the leader, if this process asks to take over and the leader does not yield to
   * it.
   */
  get blockedBy(): number | undefined {
    const { takeOver = false, priority = 0 } = this.#options.coordination ?? {};
    const holderPriority = this.#observed?.state.priority ?? 0;
    return takeOver && !this.isLeading && this.holder !== undefined && holderPriority >= priority
      ? holderPriority
      : undefined;
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
   * @param lead Called for each term. It must end at once when `term` is aborted, and finish its
   *   work and end when `yielding` is aborted.
   */
  async run(
    signal: AbortSignal,
    lead: (term: AbortSignal, yielding: AbortSignal) => Promise<void>,
  ): Promise<void> {
    while (await this.#acquire(signal)) {
      const term = this.#term!;
      const renewing = this.#renew(term);
      try {
        await lead(term.abort.signal, term.yielding.signal);
        if ((signal.aborted || term.yielding.signal.aborted) && this.isLeading) await this.#release();
      } finally {
        term.abort.abort(new DOMException("The leadership term has ended", "AbortError"));
        await renewing;
        this.#term = undefined;
      }
    }
  }

  /** Waits until this process holds the lease. Returns `false` if the signal is aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, log, random, retryPeriod, identity, namespace, name, coordination } = this.#options;
    let lastLogged: string | undefined;
    while (!signal.aborted) {
      const moment = this.#moment();
      try {
        if (await this.#tryOnce(signal)) {
          this.#term = { abort: new AbortController(), yielding: new AbortController(), renewed: moment };
          if (this.isLeading) {
            log.info("Leadership gained", { lease: `${namespace}/${name}`, identity });
            return true;
          }
        }
        const standing = this.holder === undefined ? undefined : `${this.holder} ${this.blockedBy}`;
        if (standing !== lastLogged && this.holder !== identity) {
          lastLogged = standing;
          this.#logStandby();
        }
      } catch (error) {
        if (signal.aborted) break;
        const message = (error as Error).message;
        if (message !== lastLogged) log.warn("Lease request failed", { lease: `${namespace}/${name}`, error: message });
        lastLogged = message;
      }
      await sleep(clock, nextTry(retryPeriod, random()), signal).catch(() => undefined);
    }
    if (coordination?.takeOver) await this.#withdraw();
    return false;
  }

  #logStandby(): void {
    const { log, namespace, name, coordination } = this.#options;
    const fields = { lease: `${namespace}/${name}`, leader: this.holder ?? "none yet" };
    if (!coordination?.takeOver || this.holder === undefined) return log.info("Standing by", fields);
    const { priority } = coordination;
    const leaderPriority = this.blockedBy;
    if (leaderPriority === undefined) return log.info("Take-over requested", { ...fields, priority });
    log.warn("Standing by because the leader's priority is not lower", { ...fields, priority, leaderPriority });
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
          this.#yieldIfRequested(term);
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

  #yieldIfRequested({ yielding }: Term): void {
    const { identity, coordination, log } = this.#options;
    const { takeOver } = this.#observed?.state ?? {};
    if (coordination === undefined || takeOver === undefined || yielding.signal.aborted) return;
    if (!mustYield(takeOver, { identity, priority: coordination.priority })) return;
    const { by, priority } = takeOver;
    log.info("Leadership yielded", { to: by, priority: coordination.priority, requestedPriority: priority });
    yielding.abort(new DOMException("Another process takes over", "AbortError"));
  }

  #endTerm(reason: string): void {
    const { abort } = this.#term ?? {};
    if (abort === undefined || abort.signal.aborted) return;
    this.#options.log.warn("Leadership lost", { reason });
    abort.abort(new DOMException("This process is no longer the leader", "AbortError"));
  }

  /** Tries once to take or renew the lease. Returns whether this process holds it. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { clock, renewDeadline } = this.#options;
    using limit = linked([signal]);
    // A request that gets no response must leave time for another attempt.
    using _timer = clock.after(renewDeadline / 2, () => limit.abort(new DOMException("No response", "TimeoutError")));
    try {
      return await this.#takeOrRenew(limit.signal);
    } finally {
      this.#reportPause();
    }
  }

  async #takeOrRenew(signal: AbortSignal): Promise<boolean> {
    const { identity } = this.#options;
    const observed = this.#observed;
    if (observed?.spec.holderIdentity === identity) {
      try {
        return await this.#hold(observed, signal);
      } catch (error) {
        if (!isStatus(error, 409) && !isStatus(error, 404)) throw error;
        this.slowPaths++;
      }
    }
    const lease = await this.#read(signal);
    try {
      if (lease === undefined || this.#mayTake(lease)) return await this.#hold(lease, signal);
      await this.#requestTakeOver(lease, signal);
      return false;
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      // Another process was faster. The read shows which one.
      await this.#read(signal);
      return false;
    }
  }

  /** Acquires or renews the lease. */
  async #hold(lease: ObservedLease | undefined, signal: AbortSignal): Promise<boolean> {
    const isHeld = await this.#write(lease, this.#renewal(lease), signal);
    if (isHeld && this.#term === undefined) {
      const { renewTime } = lease?.spec ?? {};
      this.lastRenewedAt = renewTime === undefined ? undefined : Date.parse(renewTime);
    }
    return isHeld;
  }

  #mayTake({ spec, state, at, requestedAt }: ObservedLease): boolean {
    const { clock, identity, leaseDuration, coordination } = this.#options;
    const now = clock.elapsed();
    if (!mayTake(spec, now - at, identity)) return false;
    if (coordination === undefined || spec.holderIdentity === identity) return true;
    const candidate = { identity, priority: coordination.priority };
    return !mustDefer(state.takeOver, now - requestedAt, leaseDuration, candidate);
  }

  /** Returns what this process writes to acquire or renew the lease. */
  #renewal(lease: ObservedLease | undefined): LeaseWrite {
    const { clock, identity, leaseDuration, coordination } = this.#options;
    const spec = renewedLease(lease?.spec, identity, leaseDuration, clock.now());
    if (coordination === undefined) return { spec };
    const isAcquired = lease?.spec.holderIdentity !== identity;
    const { takeOver, pause } = lease?.state ?? {};
    const isPauseOver = pause?.until !== undefined && pause.until <= clock.now();
    return {
      spec,
      changes: {
        ...(isAcquired ? { priority: coordination.priority } : {}),
        // The request of another process that is still waiting is repeated by that process.
        ...(isAcquired && takeOver !== undefined ? { takeOver: null } : {}),
        ...(isPauseOver ? { pause: null } : {}),
      },
    };
  }

  /** Asks for the lease, unless a process with the same or a higher priority already does. */
  async #requestTakeOver(lease: ObservedLease, signal: AbortSignal): Promise<void> {
    const { clock, identity, leaseDuration, coordination } = this.#options;
    if (!coordination?.takeOver) return;
    const { priority } = coordination;
    const { state: { takeOver }, requestedAt } = lease;
    const age = clock.elapsed() - requestedAt;
    if (takeOver?.by === identity) {
      if (age < leaseDuration / 3) return;
    } else if (takeOver !== undefined && age < leaseDuration && takeOver.priority >= priority) return;
    await this.#write(
      lease,
      { changes: { takeOver: { by: identity, priority, renewed: microTime(clock.now()) } } },
      signal,
    );
  }

  /** Removes the request of this process, which stops before it led. */
  async #withdraw(): Promise<void> {
    const { identity, clock, renewDeadline, log } = this.#options;
    if (this.#observed?.state.takeOver?.by !== identity) return;
    using limit = linked([]);
    using _timer = clock.after(renewDeadline / 2, () => limit.abort(new DOMException("No response", "TimeoutError")));
    try {
      const lease = await this.#read(limit.signal);
      if (lease?.state.takeOver?.by === identity) {
        await this.#write(lease, { changes: { takeOver: null } }, limit.signal);
      }
    } catch (error) {
      // Other processes ignore a request that is not renewed.
      log.debug("Take-over request not removed", { error: (error as Error).message });
    }
  }

  /** Reports the start or the end of a pause. */
  #reportPause(): void {
    const { clock, coordination } = this.#options;
    const { pause } = this.#observed?.state ?? {};
    const isOver = pause?.until !== undefined && pause.until <= clock.now();
    const current = isOver ? undefined : pause;
    if (coordination === undefined || equal(current, this.#pause)) return;
    this.#pause = current;
    coordination.onPause(current);
  }

  async #read(signal: AbortSignal): Promise<ObservedLease | undefined> {
    const { client, name, namespace } = this.#options;
    try {
      const { spec, metadata } = await client.get(Lease, name, { namespace, signal });
      this.#observe((spec ?? {}) as LeaseSpec, metadata);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      this.#observed = undefined;
    }
    return this.#observed;
  }

  async #write(
    before: ObservedLease | undefined,
    { spec, changes = {} }: LeaseWrite,
    signal: AbortSignal,
  ): Promise<true> {
    const { client, name, namespace, coordination } = this.#options;
    const changed = coordination === undefined ? {} : leaseAnnotations(coordination.operator, changes);
    const annotations = Object.keys(changed).length === 0 ? {} : { annotations: changed };
    const body = spec === undefined ? {} : { spec };
    const stored = before === undefined
      ? await client.create(Lease, { metadata: { name, ...annotations }, ...body } as Input<typeof Lease>, {
        namespace,
        signal,
      })
      : await client.patch(Lease, name, {
        metadata: { resourceVersion: before.resourceVersion, ...annotations } as { resourceVersion: string },
        ...body,
      }, { namespace, signal });
    this.#observe(spec ?? before?.spec ?? {}, stored.metadata);
    return true;
  }

  #observe(
    spec: LeaseSpec,
    { resourceVersion, annotations }: {
      readonly resourceVersion: string;
      readonly annotations?: Annotations | undefined;
    },
  ): void {
    this.activity++;
    const before = this.#observed;
    if (before?.resourceVersion === resourceVersion) return;
    const { clock, coordination } = this.#options;
    const now = clock.elapsed();
    const state = coordination === undefined ? NO_STATE : leaseState(coordination.operator, annotations);
    this.#observed = {
      spec,
      state,
      resourceVersion,
      at: before !== undefined && equal(before.spec, spec) ? before.at : now,
      requestedAt: before !== undefined && equal(before.state.takeOver, state.takeOver) ? before.requestedAt : now,
    };
  }

  async #release(): Promise<void> {
    const { clock, log, renewDeadline, namespace, name, identity } = this.#options;
    using limit = linked([]);
    using _timer = clock.after(renewDeadline / 2, () => limit.abort(new DOMException("No response", "TimeoutError")));
    // No other write is allowed from here on.
    this.#term?.abort.abort(new DOMException("The operator stops", "AbortError"));
    try {
      // Read again: a pending renewal may have reached the API server.
      const lease = await this.#read(limit.signal);
      if (lease?.spec.holderIdentity !== identity) return;
      await this.#write(lease, { spec: releasedLease(clock.now()) }, limit.signal);
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
