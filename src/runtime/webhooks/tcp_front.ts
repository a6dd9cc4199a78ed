/**
 * A TCP port that stays open while the server behind it is replaced. Each connection is piped to
 * the server that is current when it is admitted, and stays with it, so a server can take over with
 * another certificate without breaking any connection.
 *
 * No client can take the port from the others. If the port is full, a new connection replaces an
 * idle or slow one, or one of a client with most of the places; otherwise it waits. A connection
 * whose review is being answered is never closed for another. A connection may send only a few
 * records before a request of it is read, and a reset connection is released at once. When too many
 * requests wait for their bodies, the connection that has the most of them is closed.
 *
 * If the server behind ends, as Deno's does when the process has no file descriptors left,
 * connections that it has not answered yet wait for the next server.
 *
 * Two listeners on one port (`reusePort`) were tried instead. The one that closes takes its queue
 * along: 94 of 3,000 new connections were reset. `setSecureContext` of `node:https` loses none, but
 * Deno 2.4 does not have it.
 */
import { type Clock, sleep } from "../../base/clock.ts";
import { evictedFor, firstToClose, isSpare, RANK } from "./eviction.ts";
import { collectGarbage } from "./garbage.ts";
import { Pipe, ServerRefused, type Target, type UnreadListener } from "./pipe.ts";

/** Options of {@linkcode TcpFront}. */
export interface TcpFrontOptions {
  readonly hostname: string;
  /** Port to listen on; 0 selects a free one. */
  readonly port: number;
  /** Measures how long a connection has been silent. */
  readonly clock: Clock;
  /** Maximum number of open connections. Twice as many more may wait. @default {512} */
  readonly connections?: number;
  /**
   * How long a connection may be open before the server sends its first byte, in milliseconds. A
   * handshake takes a few. @default {10_000}
   */
  readonly firstByte?: number;
  /**
   * How long the server may be silent before a connection is closed, in milliseconds. Clients close
   * idle connections after 90 s. @default {180_000}
   */
  readonly silence?: number;
}

const CONNECTIONS = 512;
// Number of requests whose body has not arrived, which take some 60 KiB each. Over HTTP/2 a
// connection may have 200 of them, and no API server sends as many at once.
const UNREAD = 1024;
// Garbage is collected after so many of them were abandoned. V8 would wait for hundreds of MiB.
const ABANDONED = 512;
const FIRST_BYTE = 10_000;
const SILENCE = 180_000;
// Delay until the next accept after one failed, in milliseconds.
const ACCEPT_RETRY = 10;
// Longest time until waiting connections are looked at again, in milliseconds: a young connection
// in their place may have become a slow one.
const LOBBY_INTERVAL = 250;
// A connection takes three descriptors: the client's, and both ends of the one behind it.
const DESCRIPTORS = 3;
// Number of connections whose descriptors are released when the process has none left.
const RELEASED = 8;

/** A TCP port that stays open while the server behind it is replaced. */
export class TcpFront implements AsyncDisposable {
  #target: Target | undefined;
  /**
   * Whether connections wait while there is no target, because one is expected soon. Otherwise they
   * are closed.
   */
  isReopening = false;
  readonly #listener: Deno.TcpListener;
  readonly #options: TcpFrontOptions;
  /** The open connections by client address, the oldest first. */
  readonly #pipes = new Map<string, Set<Pipe>>();
  #size = 0;
  /** Number of requests of all connections whose body has not arrived. */
  #unread = 0;
  /** Number of such requests that were abandoned since garbage was collected. */
  #abandoned = 0;
  /**
   * Connections that wait for a place or a server, the oldest first. Each takes one descriptor and
   * little memory.
   */
  readonly #lobby = new Set<Pipe>();
  /**
   * Current maximum of `#size`. It is lower than configured after the process ran out of
   * descriptors.
   */
  #most: number;
  /** When `#most` was last raised. */
  #raised = 0;
  #isListening = true;
  #drained: PromiseWithResolvers<void> | undefined;
  readonly #accepting: Promise<void>;
  /** Timer of the next check for silent connections; there is none without connections. */
  #sweep: Disposable | undefined;
  /** When that timer is due. */
  #sweepDue = Infinity;

  /**
   * Starts listening.
   *
   * @param options Where to listen, and limits.
   * @throws {Deno.errors.AddrInUse} If the port is in use.
   */
  constructor(options: TcpFrontOptions) {
    this.#options = options;
    this.#most = options.connections ?? CONNECTIONS;
    this.#listener = Deno.listen({ hostname: options.hostname, port: options.port });
    this.#accepting = this.#accept();
  }

  /** The server that new connections are piped to. */
  get target(): Target | undefined {
    return this.#target;
  }

  set target(target: Target | undefined) {
    this.#target = target;
    this.#admit();
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Number of open connections, without those that wait. */
  get connections(): number {
    return this.#size;
  }

  /** Number of connections that wait for a place or a server. */
  get waiting(): number {
    return this.#lobby.size;
  }

  get #limit(): number {
    return this.#options.connections ?? CONNECTIONS;
  }

  async #accept(): Promise<void> {
    while (true) {
      let connection: Deno.TcpConn;
      try {
        connection = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        // The client closed it before it was accepted.
        if (isClientError(error)) continue;
        if (isOutOfDescriptors(error)) this.releaseDescriptors();
        await sleep(this.#options.clock, ACCEPT_RETRY);
        continue;
      }
      const pipe = new Pipe(connection, this.#options.clock, this.#onUnread);
      if (this.#target !== undefined && this.#lobby.size === 0 && this.#hasPlaceFor(pipe.address)) {
        this.#run(pipe, this.#target);
      } else {
        this.#wait(pipe);
        this.#admit();
      }
    }
  }

  /** Lets a connection wait for a place and a server, or closes it if no server is expected. */
  #wait(pipe: Pipe): void {
    if (!this.#isListening || (this.#target === undefined && !this.isReopening)) {
      pipe.close();
      return;
    }
    this.#lobby.add(pipe);
    if (this.#lobby.size > 2 * this.#limit) this.#dismiss(this.#greediest());
    // Connections that wait too long are closed even if no other is open.
    this.#sweepWithin(LOBBY_INTERVAL);
  }

  /** Returns the oldest waiting connection of the client with the most waiting ones. */
  #greediest(): Pipe {
    const all = Map.groupBy(this.#lobby, ({ address }) => address);
    const [most] = [...all.values()].sort((a, b) => b.length - a.length);
    return most![0]!;
  }

  #dismiss(pipe: Pipe): void {
    this.#lobby.delete(pipe);
    pipe.close();
  }

  /** Gives free places to waiting connections, first to the client with the fewest connections. */
  #admit(): void {
    while (this.#target !== undefined && this.#lobby.size > 0) {
      let next: Pipe | undefined;
      let fewest = Infinity;
      for (const pipe of this.#lobby) {
        const own = this.#pipes.get(pipe.address)?.size ?? 0;
        if (own < fewest) [next, fewest] = [pipe, own];
      }
      if (!this.#hasPlaceFor(next!.address)) return;
      this.#lobby.delete(next!);
      this.#run(next!, this.#target);
    }
  }

  async #run(pipe: Pipe, target: Target): Promise<void> {
    this.#add(pipe);
    target.connections++;
    this.#sweepWithin(this.#sweepInterval);
    let error: unknown;
    try {
      await pipe.run(target);
    } catch (thrown) {
      // Otherwise the client or the server broke off, or the front closed the connection.
      error = thrown;
    }
    const isOut = isOutOfDescriptors(error);
    if (isOut) this.releaseDescriptors();
    if (error instanceof ServerRefused && this.#target === target) target.onRefused?.();
    this.#remove(pipe);
    // The connection waits for descriptors, or for the server that replaces this one.
    const mayWait = isOut || (error instanceof ServerRefused && this.#target !== target);
    if (mayWait && pipe.canRestart) this.#wait(pipe);
    else pipe.close();
    if (this.#size === 0) this.#drained?.resolve();
    // Without descriptors, another attempt now would fail as well.
    if (!isOut) this.#admit();
    if (--target.connections === 0) target.onIdle?.();
  }

  #add(pipe: Pipe): void {
    const same = this.#pipes.get(pipe.address);
    if (same === undefined) this.#pipes.set(pipe.address, new Set([pipe]));
    else same.add(pipe);
    this.#size++;
  }

  #remove(pipe: Pipe): void {
    const same = this.#pipes.get(pipe.address);
    if (!same?.delete(pipe)) return;
    if (same.size === 0) this.#pipes.delete(pipe.address);
    this.#size--;
    // Half of the connections have returned their descriptors, so the limit may be the configured
    // one again.
    if (this.#size * 2 < this.#most) this.#most = this.#limit;
  }

  /** Returns whether a client may open a connection now. May close another one for it. */
  #hasPlaceFor(address: string): boolean {
    if (this.#size < this.#most) return true;
    const evicted = evictedFor(address, this.#pipes, {
      now: this.#options.clock.elapsed(),
      crowd: this.#limit / 2,
    });
    if (evicted !== undefined) this.#evict(evicted);
    return evicted !== undefined;
  }

  #evict(pipe: Pipe): void {
    pipe.close();
    // Its place is free now, before its pending reads have ended.
    this.#remove(pipe);
  }

  /**
   * Closes some connections of the client that holds the most descriptors, and admits fewer from
   * now on. Called when the process has no descriptors left.
   */
  releaseDescriptors(): void {
    const before = this.#size;
    for (let released = 0; released < RELEASED * DESCRIPTORS;) {
      const descriptors = this.#release();
      if (descriptors === 0) break;
      released += descriptors;
    }
    this.#most = Math.min(this.#most, Math.max(RELEASED, before - RELEASED));
  }

  /**
   * Closes one connection.
   *
   * @returns Number of descriptors that this releases; 0 if no connection can be closed.
   */
  #release(): number {
    const now = this.#options.clock.elapsed();
    const waiting = Map.groupBy(this.#lobby, ({ address }) => address);
    const held = (address: string): number =>
      (this.#pipes.get(address)?.size ?? 0) * DESCRIPTORS + (waiting.get(address)?.length ?? 0);
    const addresses = [...new Set([...this.#pipes.keys(), ...waiting.keys()])].sort((a, b) => held(b) - held(a));
    for (const [i, address] of addresses.entries()) {
      const isGreedy = i === 0 && addresses.length > 1;
      const oldest = waiting.get(address)?.[0];
      if (isGreedy && oldest !== undefined) {
        this.#dismiss(oldest);
        return 1;
      }
      const first = firstToClose(this.#pipes.get(address) ?? [], now);
      // Clients that hold less lose no review, and neither does a client that is alone.
      if (first !== undefined && (isSpare(first, now) || (isGreedy && first.rank < RANK.waiting))) {
        this.#evict(first);
        return DESCRIPTORS;
      }
    }
    return 0;
  }

  readonly #onUnread: UnreadListener = (change, isAbandoned) => {
    this.#unread += change;
    if (isAbandoned) this.#abandoned -= change;
    if (this.#abandoned >= ABANDONED) {
      this.#abandoned = 0;
      collectGarbage();
    }
    if (change > 0 && this.#unread > UNREAD) this.#evictUnread();
  };

  /** Closes the connection with the most unread requests, of the client that has the most. */
  #evictUnread(): void {
    const unreadOf = (pipes: Iterable<Pipe>) => [...pipes].reduce((sum, { unread }) => sum + unread, 0);
    const [client] = [...this.#pipes.values()].sort((a, b) => unreadOf(b) - unreadOf(a));
    const [most] = [...client ?? []].sort((a, b) => b.unread - a.unread);
    if (most === undefined) return;
    this.#evict(most);
    this.#admit();
  }

  get #sweepInterval(): number {
    const { firstByte = FIRST_BYTE } = this.#options;
    return Math.max(50, firstByte / 4);
  }

  #sweepWithin(delay: number): void {
    const { clock } = this.#options;
    const due = clock.elapsed() + delay;
    if (this.#sweepDue <= due) return;
    this.#sweep?.[Symbol.dispose]();
    this.#sweepDue = due;
    this.#sweep = clock.after(delay, () => {
      this.#sweep = undefined;
      this.#sweepDue = Infinity;
      this.#closeSilent();
      this.#raiseLimit();
      this.#admit();
      if (this.#lobby.size > 0) this.#sweepWithin(Math.min(LOBBY_INTERVAL, this.#sweepInterval));
      else if (this.#size > 0) this.#sweepWithin(this.#sweepInterval);
    });
  }

  /** Admits one more connection now and then: the process may have more descriptors again. */
  #raiseLimit(): void {
    const now = this.#options.clock.elapsed();
    if (now - this.#raised < this.#sweepInterval) return;
    this.#raised = now;
    this.#most = Math.min(this.#most + 1, this.#limit);
  }

  #closeSilent(): void {
    const { clock, firstByte = FIRST_BYTE } = this.#options;
    const now = clock.elapsed();
    for (const pipe of this.#lobby) if (now - pipe.accepted > firstByte) this.#dismiss(pipe);
    for (const pipes of this.#pipes.values()) for (const pipe of pipes) if (this.#isSilent(pipe, now)) pipe.close();
  }

  #isSilent({ opened, heard, writing, paused, isAsking }: Pipe, now: number): boolean {
    const { firstByte = FIRST_BYTE, silence = SILENCE } = this.#options;
    // The client does not read what it is sent, or sends something other than requests.
    if (writing !== undefined && now - writing > firstByte) return true;
    if (paused !== undefined && !isAsking && now - paused > firstByte) return true;
    return heard === undefined ? now - opened > firstByte : now - heard > silence;
  }

  /** Accepts no more connections, and closes those that wait. Open ones continue. */
  stopListening(): void {
    this.#isListening = false;
    for (const pipe of this.#lobby) this.#dismiss(pipe);
    try {
      this.#listener.close();
    } catch { /* it was closed before */ }
  }

  /**
   * Resolves when all connections have ended, so the server's last bytes have reached the clients.
   */
  async drained(): Promise<void> {
    if (this.#size === 0) return;
    this.#drained ??= Promise.withResolvers<void>();
    await this.#drained.promise;
  }

  /** Closes the port and all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.#sweep?.[Symbol.dispose]();
    for (const pipes of this.#pipes.values()) for (const pipe of pipes) pipe.close();
    await this.#accepting;
  }
}

/**
 * Returns whether a connection could not be accepted because its client closed it.
 *
 * @param error The error of `accept`.
 */
export function isClientError(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return ["ECONNABORTED", "ECONNRESET", "ENOTCONN"].includes(code as string);
}

/**
 * Returns whether the process (EMFILE) or the machine (ENFILE) has no file descriptors left.
 *
 * @param error The error of a call that opens one.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === "EMFILE" || code === "ENFILE";
}
