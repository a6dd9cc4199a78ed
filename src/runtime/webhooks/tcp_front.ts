/**
 * A TCP port that stays open while the server behind it is replaced. Each connection is piped to
 * the server that is current when the connection is admitted, until it ends. So a server with
 * another certificate can take over without breaking a connection.
 *
 * No client can block the others. If all connections are in use, a new connection replaces an idle
 * or slow one, or one of a client with more than half of them; otherwise it waits. A connection
 * whose review is being handled is never closed for another. A connection may send only a few TLS
 * records before the server reads a request, and a reset connection is released at once. When the
 * bodies of too many requests have not arrived, the connection with the most such requests is
 * closed.
 *
 * If the server behind the port stops, as Deno's does when the process has no file descriptors
 * left, connections that have received no bytes yet wait for the next server.
 *
 * Two alternatives do not work. With two listeners on one port (`reusePort`), closing one resets
 * the connections in its queue: 94 of 3,000 new connections in a test. `setSecureContext` of
 * `node:https` loses no connections, but Deno 2.4 does not have it.
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
// Maximum number of requests whose body has not arrived, which take about 60 KiB each. An HTTP/2
// connection may have 200 of them, but an API server does not send as many at once.
const MAX_UNREAD = 1024;
// Garbage is collected after this many of them were abandoned. V8 itself would wait for hundreds of
// MiB.
const MAX_ABANDONED = 512;
const FIRST_BYTE = 10_000;
const SILENCE = 180_000;
// Delay until the next accept after one failed, in milliseconds.
const ACCEPT_RETRY = 10;
// Maximum interval between checks of waiting connections, in milliseconds. In the meantime, an open
// connection may have become idle or slow, so that it can be replaced.
const WAITING_INTERVAL = 250;
// A connection takes three descriptors: the client's, and both ends of the connection to the
// server.
const DESCRIPTORS = 3;
// Number of connections that are closed when the process has no descriptors left.
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
   * Connections that wait to be admitted, because the maximum is open or there is no server. The
   * oldest is first. Each takes one descriptor and little memory.
   */
  readonly #waitingPipes = new Set<Pipe>();
  /**
   * Current maximum of `#size`. It is lower than configured after the process ran out of
   * descriptors.
   */
  #currentLimit: number;
  /** When `#currentLimit` was last raised. */
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
    this.#currentLimit = options.connections ?? CONNECTIONS;
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

  /** Number of connections that wait to be admitted. */
  get waiting(): number {
    return this.#waitingPipes.size;
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
      if (this.#target !== undefined && this.#waitingPipes.size === 0 && this.#hasRoomFor(pipe.address)) {
        this.#run(pipe, this.#target);
      } else {
        this.#wait(pipe);
        this.#admit();
      }
    }
  }

  /** Lets a connection wait to be admitted, or closes it if no server is expected. */
  #wait(pipe: Pipe): void {
    if (!this.#isListening || (this.#target === undefined && !this.isReopening)) {
      pipe.close();
      return;
    }
    this.#waitingPipes.add(pipe);
    if (this.#waitingPipes.size > 2 * this.#limit) this.#dismiss(this.#oldestOfGreediest());
    // The timer closes connections that wait too long, even if no connection is open.
    this.#sweepWithin(WAITING_INTERVAL);
  }

  /** Returns the oldest waiting connection of the client with the most waiting ones. */
  #oldestOfGreediest(): Pipe {
    const all = Map.groupBy(this.#waitingPipes, ({ address }) => address);
    const [most] = [...all.values()].sort((a, b) => b.length - a.length);
    return most![0]!;
  }

  #dismiss(pipe: Pipe): void {
    this.#waitingPipes.delete(pipe);
    pipe.close();
  }

  /** Admits waiting connections, first those of the client with the fewest open connections. */
  #admit(): void {
    while (this.#target !== undefined && this.#waitingPipes.size > 0) {
      let next: Pipe | undefined;
      let fewest = Infinity;
      for (const pipe of this.#waitingPipes) {
        const own = this.#pipes.get(pipe.address)?.size ?? 0;
        if (own < fewest) [next, fewest] = [pipe, own];
      }
      if (!this.#hasRoomFor(next!.address)) return;
      this.#waitingPipes.delete(next!);
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
      // Other errors mean that the client or the server ended the connection, or that it was closed
      // here.
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
    // Half of the connections have released their descriptors, so the configured limit applies
    // again.
    if (this.#size * 2 < this.#currentLimit) this.#currentLimit = this.#limit;
  }

  /** Returns whether a client may open a connection now. It may close another one for this. */
  #hasRoomFor(address: string): boolean {
    if (this.#size < this.#currentLimit) return true;
    const evicted = evictedFor(address, this.#pipes, {
      now: this.#options.clock.elapsed(),
      crowd: this.#limit / 2,
    });
    if (evicted !== undefined) this.#evict(evicted);
    return evicted !== undefined;
  }

  #evict(pipe: Pipe): void {
    pipe.close();
    // Count it as closed now, before its pending reads have ended.
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
    this.#currentLimit = Math.min(this.#currentLimit, Math.max(RELEASED, before - RELEASED));
  }

  /**
   * Closes one connection.
   *
   * @returns Number of descriptors that this releases; 0 if no connection can be closed.
   */
  #release(): number {
    const now = this.#options.clock.elapsed();
    const waiting = Map.groupBy(this.#waitingPipes, ({ address }) => address);
    const descriptorsOf = (address: string): number =>
      (this.#pipes.get(address)?.size ?? 0) * DESCRIPTORS + (waiting.get(address)?.length ?? 0);
    const addresses = [...new Set([...this.#pipes.keys(), ...waiting.keys()])].sort((a, b) =>
      descriptorsOf(b) - descriptorsOf(a)
    );
    for (const [i, address] of addresses.entries()) {
      const isGreedy = i === 0 && addresses.length > 1;
      const oldest = waiting.get(address)?.[0];
      if (isGreedy && oldest !== undefined) {
        this.#dismiss(oldest);
        return 1;
      }
      const first = firstToClose(this.#pipes.get(address) ?? [], now);
      // Only the client that holds the most descriptors may lose a review, and only if there are
      // other clients.
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
    if (this.#abandoned >= MAX_ABANDONED) {
      this.#abandoned = 0;
      collectGarbage();
    }
    if (change > 0 && this.#unread > MAX_UNREAD) this.#evictUnread();
  };

  /** Closes the connection with the most unread requests, of the client with the most of them. */
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
      if (this.#waitingPipes.size > 0) this.#sweepWithin(Math.min(WAITING_INTERVAL, this.#sweepInterval));
      else if (this.#size > 0) this.#sweepWithin(this.#sweepInterval);
    });
  }

  /** Raises the current limit by one per interval, because descriptors may be free again. */
  #raiseLimit(): void {
    const now = this.#options.clock.elapsed();
    if (now - this.#raised < this.#sweepInterval) return;
    this.#raised = now;
    this.#currentLimit = Math.min(this.#currentLimit + 1, this.#limit);
  }

  #closeSilent(): void {
    const { clock, firstByte = FIRST_BYTE } = this.#options;
    const now = clock.elapsed();
    for (const pipe of this.#waitingPipes) if (now - pipe.accepted > firstByte) this.#dismiss(pipe);
    for (const pipes of this.#pipes.values()) for (const pipe of pipes) if (this.#isSilent(pipe, now)) pipe.close();
  }

  #isSilent({ opened, lastReceived, writing, paused, hasPendingRequest }: Pipe, now: number): boolean {
    const { firstByte = FIRST_BYTE, silence = SILENCE } = this.#options;
    // The client does not read the response, or sends bytes that are not a request.
    if (writing !== undefined && now - writing > firstByte) return true;
    if (paused !== undefined && !hasPendingRequest && now - paused > firstByte) return true;
    return lastReceived === undefined ? now - opened > firstByte : now - lastReceived > silence;
  }

  /** Accepts no more connections, and closes those that wait. Open ones continue. */
  stopListening(): void {
    this.#isListening = false;
    for (const pipe of this.#waitingPipes) this.#dismiss(pipe);
    try {
      this.#listener.close();
    } catch { /* It is already closed. */ }
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
