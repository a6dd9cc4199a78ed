/**
 * The rules of leader election with a Lease, as in client-go (`tools/leaderelection`). The process
 * that renews the Lease leads. Another process may take the Lease after it has observed no renewal
 * for the duration of the Lease.
 */
import { isoTime } from "../base/iso_time.ts";
import type { TakeOverRequest } from "./lease_annotations.ts";

/** The fields of a Lease's `spec` that the rules use. */
export interface LeaseSpec {
  readonly holderIdentity?: string | null | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly acquireTime?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly leaseTransitions?: number | undefined;
}

/** Times of a lease, in milliseconds. */
export interface LeaseTimes {
  /** How long other processes wait after the last renewal before they take the lease. */
  readonly leaseDuration: number;
  /**
   * How long the holder continues to lead while it cannot renew the lease. It must be shorter than
   * `leaseDuration`, so that there is at most one leader.
   */
  readonly renewDeadline: number;
  /** Delay between two attempts. */
  readonly retryPeriod: number;
}

// Attempts are spread over up to 2.2 periods, as in client-go.
const JITTER = 1.2;

/**
 * Rejects times that would let two processes lead at once, or would leave the holder no time for a
 * second attempt to renew. The rules are client-go's.
 *
 * @throws {RangeError} If the times violate a rule.
 */
export function checkLeaseTimes({ leaseDuration, renewDeadline, retryPeriod }: LeaseTimes): void {
  const given = `leaseDuration ${leaseDuration} ms, renewDeadline ${renewDeadline} ms, retryPeriod ${retryPeriod} ms`;
  if (leaseDuration < 1000 || retryPeriod <= 0) {
    throw new RangeError(`Leader election: leaseDuration must be at least 1 s and retryPeriod positive, got ${given}`);
  }
  if (leaseDuration <= renewDeadline || renewDeadline <= retryPeriod * JITTER) {
    throw new RangeError(
      `Leader election: leaseDuration must exceed renewDeadline, which must exceed 1.2 times retryPeriod, got ${given}`,
    );
  }
}

/**
 * Returns whether a candidate may take a lease.
 *
 * @param lease Its `spec`.
 * @param unchanged How long the candidate has observed no change of the lease, in milliseconds. The
 * times in the lease are not used, because the clocks of machines differ.
 * @param identity The candidate.
 */
export function mayTake(lease: LeaseSpec, unchanged: number, identity: string): boolean {
  if (!lease.holderIdentity || lease.holderIdentity === identity) return true;
  return unchanged >= (lease.leaseDurationSeconds ?? 0) * 1000;
}

/** A process that stands by. */
export interface Candidate {
  readonly identity: string;
  readonly priority: number;
}

/**
 * Returns whether a candidate must leave a free lease to the process that asked to take over.
 *
 * @param request The request in the lease.
 * @param unchanged How long the candidate has observed no renewal of the request, in milliseconds.
 * @param leaseDuration After this time without a renewal, the process that asked counts as ended.
 * @param candidate The candidate.
 */
export function mustDefer(
  request: TakeOverRequest | undefined,
  unchanged: number,
  leaseDuration: number,
  { identity, priority }: Candidate,
): boolean {
  if (request === undefined || request.by === identity || request.priority <= priority) return false;
  return unchanged < leaseDuration;
}

/**
 * Returns whether a holder yields to the process that asks to take over. At equal priority it does
 * not: the newcomer waits.
 */
export function mustYield(request: TakeOverRequest | undefined, { identity, priority }: Candidate): boolean {
  return request !== undefined && request.by !== identity && request.priority > priority;
}

/**
 * Returns the `spec` that a holder writes to acquire or renew a lease.
 *
 * @param before The previous `spec`; `undefined` if there was none.
 * @param identity The holder.
 * @param leaseDuration How long the lease is valid after this write, in milliseconds.
 * @param now The time, in milliseconds since the epoch.
 */
export function renewedLease(
  before: LeaseSpec | undefined,
  identity: string,
  leaseDuration: number,
  now: number,
): LeaseSpec {
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
 * Returns the `spec` that a holder writes to release a lease, so that the next candidate need not
 * wait.
 *
 * @param now The time, in milliseconds since the epoch.
 */
export function releasedLease(now: number): LeaseSpec {
  // API servers accept neither an empty holder nor a duration of zero.
  return { holderIdentity: null, leaseDurationSeconds: 1, acquireTime: microTime(now), renewTime: microTime(now) };
}

/**
 * Returns how long a candidate waits before the next attempt, in milliseconds.
 *
 * @param retryPeriod The minimum, in milliseconds.
 * @param spread Random number from 0 to 1.
 */
export function nextTry(retryPeriod: number, spread: number): number {
  return retryPeriod * (1 + JITTER * spread);
}

/** Formats a Kubernetes MicroTime, which has exactly six digits of a second. */
export function microTime(now: number): string {
  return isoTime(now).replace("Z", "000Z");
}
