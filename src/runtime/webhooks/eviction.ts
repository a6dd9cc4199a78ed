/** Decides which connection is closed when another needs its place. */

/** How far a connection is, from what is missed least to what is never closed for another. */
export const RANK = {
  /** No request of it was answered yet: its client is slow, or no API server. */
  unanswered: 0,
  /** It was answered before, and asks nothing. */
  idle: 1,
  /** A request of it has arrived as a whole and waits for its turn. */
  waiting: 2,
  /** An answer is being sent. */
  sending: 3,
  /** A review of it is being answered. */
  answering: 4,
} as const;

/** A connection. */
export interface Evictable {
  /** One of {@linkcode RANK}. */
  readonly rank: number;
  /** Since when it has been so, in milliseconds of a clock. */
  readonly since: number;
}

// A connection that changed less than two seconds ago is neither idle nor slow.
const PROMPT = 2000;

/**
 * Returns the connection to close for a new one: the one that is missed least of the client that has most, or of the client of the new one. Clients that have
 * fewer than that one lose none.
 *
 * @param clients The connections, by the addresses of their clients.
 * @param address The new one's client; `undefined` if any client is to lose one.
 * @param now The time.
 * @returns `undefined` if none is to be closed.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const [old, fresh] = [{ rank: RANK.idle, since: 0 }, { rank: RANK.idle, since: 9000 }];
 * assert.equal(evictedFor("10.0.0.2", new Map([["10.0.0.1", [fresh, old]]]), 10_000), old);
 * ```
 */
export function evictedFor<Connection extends Evictable>(
  address: string | undefined,
  clients: ReadonlyMap<string, Iterable<Connection>>,
  now: number,
): Connection | undefined {
  const counted = [...clients].map(([name, all]) => ({ name, all: [...all] }));
  const own = counted.find(({ name }) => name === address)?.all.length ?? 0;
  const losing = counted.filter(({ name, all }) => all.length > own || name === address);
  for (const { name, all } of losing.sort((a, b) => b.all.length - a.all.length)) {
    const least = leastMissed(all);
    if (least === undefined) continue;
    // A client that opens many at once does not drive away what it just began.
    if (name === address && (least.rank >= RANK.waiting || now - least.since < PROMPT)) continue;
    return least;
  }
  return undefined;
}

function leastMissed<Connection extends Evictable>(connections: readonly Connection[]): Connection | undefined {
  return connections.filter(({ rank }) => rank < RANK.answering).reduce<Connection | undefined>(
    (least, one) =>
      least === undefined || one.rank < least.rank || (one.rank === least.rank && one.since < least.since)
        ? one
        : least,
    undefined,
  );
}
