/**
 * The rules of a Lease that decides who leads, as client-go has them (`tools/leaderelection`): whoever renews it leads; who sees it unchanged for as
 * long as it is held may take it.
 */
import { isoTime } from "../base/iso_time.ts";

/** The `spec` of a Lease, as far as the rules look at it. */
export interface LeaseSpec {
  readonly holderIdentity?: string | null | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly acquireTime?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly leaseTransitions?: number | undefined;
}

/** How a lease is held and renewed. All are milliseconds. */
export interface LeaseTimes {
  /** How long others wait for a holder that is silent. */
  readonly leaseDuration: number;
  /** How long a holder that cannot renew it goes on. It must be shorter: nobody may lead when another begins to. */
  readonly renewDeadline: number;
  /** How long it is between two tries. */
  readonly retryPeriod: number;
}

// Candidates that try at one moment spread out to 2.2 periods; client-go's factor.
const JITTER = 1.2;

/**
 * Refuses times with which two could lead at once, or with which a holder had no second try; the rule is client-go's.
 *
 * @throws {RangeError} If the times are not in their order.
 */
export function refuseTimes({ leaseDuration, renewDeadline, retryPeriod }: LeaseTimes): void {
  const told = `leaseDuration ${leaseDuration} ms, renewDeadline ${renewDeadline} ms, retryPeriod ${retryPeriod} ms`;
  if (leaseDuration < 1000 || retryPeriod <= 0) {
    throw new RangeError(`Cannot elect a leader: a lease is held for a second at least, and tried for again: ${told}`);
  }
  if (leaseDuration <= renewDeadline || renewDeadline <= retryPeriod * JITTER) {
    throw new RangeError(
      `Cannot elect a leader: leaseDuration must be longer than renewDeadline, and that than 1.2 times retryPeriod: ${told}`,
    );
  }
}

/**
 * Whether a candidate may take a lease.
 *
 * @param lease What it holds.
 * @param unchanged Milliseconds for which the candidate has seen it unchanged. Clocks of machines differ, so that no written time is looked at.
 * @param identity The candidate.
 */
export function mayTake(lease: LeaseSpec, unchanged: number, identity: string): boolean {
  if (!lease.holderIdentity || lease.holderIdentity === identity) return true;
  return unchanged >= (lease.leaseDurationSeconds ?? 0) * 1000;
}

/**
 * The lease as its holder writes it.
 *
 * @param before What it was; nothing when there was none.
 * @param identity The holder.
 * @param leaseDuration For how long it is held, in milliseconds.
 * @param now Milliseconds since the epoch.
 */
export function held(before: LeaseSpec | undefined, identity: string, leaseDuration: number, now: number): LeaseSpec {
  const isOurs = before?.holderIdentity === identity;
  const transitions = before?.leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.round(leaseDuration / 1000),
    acquireTime: isOurs && before.acquireTime !== undefined ? before.acquireTime : microTime(now),
    renewTime: microTime(now),
    leaseTransitions: isOurs || before === undefined ? transitions : transitions + 1,
  };
}

/**
 * The lease as its holder gives it back: the next candidate need not wait.
 *
 * @param now Milliseconds since the epoch.
 */
export function released(now: number): LeaseSpec {
  // The server takes no empty holder and no duration of zero.
  return { holderIdentity: null, leaseDurationSeconds: 1, acquireTime: microTime(now), renewTime: microTime(now) };
}

/**
 * How long a candidate waits before it tries again, in milliseconds.
 *
 * @param retryPeriod The shortest, in milliseconds.
 * @param spread From 0 to 1.
 */
export function nextTry(retryPeriod: number, spread: number): number {
  return retryPeriod * (1 + JITTER * spread);
}

/** Kubernetes' MicroTime: six digits of a second, no more and no fewer. */
export function microTime(now: number): string {
  return isoTime(now).replace("Z", "000Z");
}
