/** Decides which connection is closed to make room for another. */

/** States of a connection. Connections with a lower rank are closed first. */
export const RANK = {
  /** No request was served yet. The client is new, slow, or not an API server. */
  unserved: 0,
  /** A request was served before, and none is pending. */
  idle: 1,
  /** A request has arrived completely and waits for its turn. */
  waiting: 2,
  /** A response is being sent. */
  sending: 3,
  /** A review is being handled. Such a connection is never closed for another. */
  handling: 4,
} as const;

/** A connection that may be closed. */
export interface Evictable {
  /** One of {@linkcode RANK}. */
  readonly rank: number;
  /** When it got that rank, in milliseconds of a clock. */
  readonly since: number;
}

/** Options of {@linkcode evictedFor}. */
export interface EvictionOptions {
  /** The current time, in milliseconds of the same clock. */
  readonly now: number;
  /** Number of connections above which a client also loses young connections. */
  readonly crowd: number;
}

// In milliseconds. A connection that got its rank more recently counts as neither idle nor slow.
const YOUNG = 2000;

/**
 * Returns the connection to close so that a client can open another one. It belongs to a client
 * with more connections, or to the same client. Unserved connections that are not young and idle
 * connections are closed first. A client with more than `crowd` connections also loses others,
 * except those whose review is being handled.
 *
 * @param address Address of the client that opens a connection.
 * @param clients The connections, by client address.
 * @param options The time and the limit.
 * @returns The connection, or `undefined` if the new one must wait.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const [old, fresh] = [{ rank: RANK.idle, since: 0 }, { rank: RANK.idle, since: 9000 }];
 * const clients = new Map([["10.0.0.1", [fresh, old]]]);
 * assert.equal(evictedFor("10.0.0.2", clients, { now: 10_000, crowd: 256 }), old);
 * ```
 */
export function evictedFor<Connection extends Evictable>(
  address: string,
  clients: ReadonlyMap<string, Iterable<Connection>>,
  { now, crowd }: EvictionOptions,
): Connection | undefined {
  const counted = [...clients].map(([name, all]) => ({ name, all: [...all] }));
  const own = counted.find(({ name }) => name === address)?.all.length ?? 0;
  const losing = counted.filter(({ name, all }) => all.length > own || name === address);
  for (const { name, all } of losing.sort((a, b) => b.all.length - a.all.length)) {
    const first = firstToClose(all, now);
    if (first === undefined) continue;
    const { rank, since } = first;
    const isYoung = now - since < YOUNG;
    // A client that opens many connections at once does not lose those that it just opened.
    if (name === address && (rank >= RANK.waiting || isYoung)) continue;
    // Closing a waiting, sending or young connection may lose a review.
    if (all.length <= crowd && (rank >= RANK.waiting || (rank === RANK.unserved && isYoung))) continue;
    return first;
  }
  return undefined;
}

/**
 * Returns the connection of a client whose closing is least likely to lose a review: an unserved
 * one that is slow, then an idle one, then a young one.
 *
 * @param connections The client's connections.
 * @param now The current time, in milliseconds.
 * @returns The connection, or `undefined` if all are being handled.
 */
export function firstToClose<Connection extends Evictable>(
  connections: Iterable<Connection>,
  now: number,
): Connection | undefined {
  let first: Connection | undefined;
  let order = Infinity;
  for (const connection of connections) {
    const { rank, since } = connection;
    if (rank >= RANK.handling) continue;
    const own = rank === RANK.unserved && now - since < YOUNG ? RANK.idle + 0.5 : rank;
    if (own > order || (own === order && since >= first!.since)) continue;
    [first, order] = [connection, own];
  }
  return first;
}

/**
 * Returns whether a connection can be closed without losing a review: it is idle, or so slow that
 * its client is not an API server.
 *
 * @param connection The connection.
 * @param now The current time, in milliseconds.
 */
export function isSpare({ rank, since }: Evictable, now: number): boolean {
  return rank === RANK.idle || (rank === RANK.unserved && now - since >= YOUNG);
}
