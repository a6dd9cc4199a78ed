/**
 * A TCP port that is never closed while the server behind it changes. Each connection is piped to the server that is current when it comes, and stays with
 * it: so a server takes over with another certificate, and no client notices.
 *
 * The port also survives its clients. A connection that is reset is released at once. When the port is full, a new connection takes the place of one of the
 * client with the most connections, or of an idle or slow one of its own client, the oldest first; if there is none, it waits. A connection whose review is
 * being answered is never closed for another, and a connection may send no more than a few records before a request of it is read.
 *
 * Two listeners on one port (`reusePort`) were tried instead. The one that closes takes along what waits in its queue: 94 of 3,000 fresh connections were
 * reset. `setSecureContext` of `node:https` loses none, but is not there in Deno 2.4.
 */
import { type Clock, sleep } from "../../base/clock.ts";
import type { Caller, Exchange } from "./caller.ts";
import { type Evictable, evictedFor, RANK } from "./eviction.ts";

/** Where connections are piped to. */
export interface Target {
  readonly hostname: string;
  readonly port: number;
  /** The open connections, by their local port: that is how the server behind sees them. The front maintains this. */
  readonly callers: Map<number, Caller>;
  /** Number of open connections. The front maintains this. */
  connections: number;
  /** Called when the last of them has ended. */
  onIdle?: () => void;
}

/** Options of {@linkcode TcpFront}. */
export interface TcpFrontOptions {
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Measures how long a connection has been silent. */
  readonly clock: Clock;
  /** How many connections may be open. Twice as many more may wait. @default {512} */
  readonly connections?: number;
  /** For how many milliseconds a connection may be open before the server says anything: a handshake takes a few. @default {10_000} */
  readonly firstByte?: number;
  /** After how many milliseconds in which the server said nothing a connection is closed. Clients give idle ones up after 90 s. @default {180_000} */
  readonly silence?: number;
}

// Most connections are idle. One that sends more gets a buffer for a whole TLS record, which has 16 KiB at most.
const FIRST_CHUNK = 2048;
const CHUNK = 16_640;
// As much as a small body, its head and the handshake. A server would otherwise store up to a mebibyte for each connection.
const AHEAD = 24 * 1024;
// How long, and how much, a client may go on sending what was refused.
const LINGER = 1000;
const LINGER_BYTES = 16 * 2 ** 20;
const CONNECTIONS = 512;
const FIRST_BYTE = 10_000;
// How long it is until the next accept, when one failed.
const AGAIN = 10;
// A connection takes three descriptors. So many are released when the process has none left, so that it can do other things as well.
const RELEASED = 8;

/** Thrown where a connection ends early. */
class Ended extends Error {}

/** How far a request is. */
type Stage = "head" | "body" | "waiting" | "answering";

/** A connection and the one behind it. */
class Pipe implements Caller, Evictable {
  readonly address: string;
  readonly opened: number;
  /** When the server said something last. */
  heard: number | undefined;
  /** When either side said something last. */
  #active: number;
  /** When a write to the client began that has not ended. */
  writing: number | undefined;
  /** When the client had to stop, because none of its requests is being read. */
  paused: number | undefined;
  readonly #outer: Deno.TcpConn;
  readonly #clock: Clock;
  #inner: Deno.TcpConn | undefined;
  #isClosed = false;
  /** Whether a review of it was ever answered. */
  #wasAnswered = false;
  /** Whether the server has said its last. */
  #hasAnswered = false;
  /** Whether a request got its response before its body was read. */
  #isUnread = false;
  /** Requests without a response, by how far they are. */
  readonly #stages: Record<Stage, number> = { head: 0, body: 0, waiting: 0, answering: 0 };
  /** Bytes that the server sent, and how many it must have sent until the last answer is out. */
  #sent = 0;
  #owed = 0;
  /** Bytes of the client that no request asked for yet. */
  #ahead = 0;
  #resume: (() => void) | undefined;

  constructor(outer: Deno.TcpConn, clock: Clock) {
    this.#outer = outer;
    this.#clock = clock;
    this.address = outer.remoteAddr.hostname;
    this.opened = this.#active = clock.elapsed();
  }

  /** Whether a request of it has no response yet. */
  get isAsking(): boolean {
    const { head, body, waiting, answering } = this.#stages;
    return head + body + waiting + answering > 0;
  }

  get rank(): number {
    const { waiting, answering } = this.#stages;
    if (answering > 0) return RANK.answering;
    if (this.#sent < this.#owed) return RANK.sending;
    if (waiting > 0) return RANK.waiting;
    return this.#wasAnswered ? RANK.idle : RANK.unanswered;
  }

  /** A client that trickles bytes looks active: one that was never answered counts from its beginning. */
  get since(): number {
    return this.rank === RANK.unanswered ? this.opened : this.#active;
  }

  /** Pipes until one of the two ends. */
  async run(target: Target): Promise<void> {
    const inner = this.#inner = await Deno.connect({ hostname: target.hostname, port: target.port });
    if (this.#isClosed) throw new Ended();
    const { port } = inner.localAddr;
    target.callers.set(port, this);
    try {
      this.#outer.setNoDelay(true);
      inner.setNoDelay(true);
      // A client that broke off takes the connection behind along: nobody else would.
      const forwarded = this.#forward(inner).catch(() => this.close());
      // A connection is over when the server has said its last.
      await this.#backward(inner);
      if (this.#isUnread) await this.#linger(forwarded);
    } finally {
      target.callers.delete(port);
    }
  }

  async #forward(inner: Deno.TcpConn): Promise<void> {
    let buffer = new Uint8Array(FIRST_CHUNK);
    for (let size = await this.#outer.read(buffer); size !== null; size = await this.#outer.read(buffer)) {
      this.#active = this.#clock.elapsed();
      this.#ahead += size;
      if (this.#ahead > AHEAD && this.#stages.body === 0) await this.#turn();
      for (let sent = 0; sent < size && !this.#hasAnswered;) {
        sent += await this.#sentTo(inner, buffer.subarray(sent, size));
      }
      if (this.#ahead > LINGER_BYTES && this.#hasAnswered) return;
      if (size === buffer.length && size < CHUNK) buffer = new Uint8Array(CHUNK);
    }
    if (!this.#hasAnswered) await inner.closeWrite();
  }

  /** The server may end before it has read all: then what it answered is still to be read. */
  async #sentTo(inner: Deno.TcpConn, bytes: Uint8Array): Promise<number> {
    try {
      return await inner.write(bytes);
    } catch (error) {
      if (this.#isUnread) return bytes.length;
      throw error;
    }
  }

  async #backward(inner: Deno.TcpConn): Promise<void> {
    let buffer = new Uint8Array(FIRST_CHUNK);
    for (let size = await this.#said(inner, buffer); size !== null; size = await this.#said(inner, buffer)) {
      this.writing = this.#clock.elapsed();
      for (let sent = 0; sent < size;) sent += await this.#outer.write(buffer.subarray(sent, size));
      this.writing = undefined;
      this.#sent += size;
      this.heard = this.#active = this.#clock.elapsed();
      if (size === buffer.length && size < CHUNK) buffer = new Uint8Array(CHUNK);
    }
    this.#hasAnswered = true;
    await this.#outer.closeWrite();
  }

  /** A server that did not read all of a request resets its connection. */
  async #said(inner: Deno.TcpConn, buffer: Uint8Array): Promise<number | null> {
    try {
      return await inner.read(buffer);
    } catch (error) {
      if (this.#isUnread) return null;
      throw error;
    }
  }

  /** Reads on for a moment what nobody wants: to close before would reset the connection, and the client might not see why it was refused. */
  async #linger(forwarded: Promise<void>): Promise<void> {
    this.#flow();
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#clock.after(LINGER, resolve);
    await Promise.race([forwarded, promise]);
  }

  /** Waits until a request is read, or the connection is closed. */
  async #turn(): Promise<void> {
    this.paused = this.#clock.elapsed();
    await new Promise<void>((resolve) => this.#resume = resolve);
    if (this.#isClosed) throw new Ended();
  }

  #flow(): void {
    this.#ahead = 0;
    this.paused = undefined;
    this.#resume?.();
    this.#resume = undefined;
  }

  began(): Exchange {
    const stages = this.#stages;
    let stage: Stage = "head";
    let isOver = false;
    // A body may end after its request was given up.
    const enter = (next: Stage): void => {
      if (isOver) return;
      stages[stage]--;
      stages[stage = next]++;
    };
    stages[stage]++;
    return {
      bodyBegan: () => {
        enter("body");
        this.#flow();
      },
      bodyEnded: () => {
        enter("waiting");
        this.#ahead = 0;
      },
      answerBegan: () => enter("answering"),
      ended: (length) => {
        isOver = true;
        if (stage === "head" || stage === "body") this.#isUnread = true;
        stages[stage]--;
        this.#wasAnswered ||= stage === "answering";
        if (stage === "answering") this.#owed = this.#sent + length;
        this.#flow();
      },
    };
  }

  close(): void {
    this.#isClosed = true;
    close(this.#outer);
    if (this.#inner !== undefined) close(this.#inner);
    this.#resume?.();
  }
}

/** A TCP port that is never closed. */
export class TcpFront implements AsyncDisposable {
  #target: Target | undefined;
  /**
   * Whether connections wait while there is no target, because one is expected soon. Otherwise they are
   * closed.
   */
  isReopening = false;
  readonly #listener: Deno.TcpListener;
  readonly #options: TcpFrontOptions;
  /** The open connections by address, the oldest first. */
  readonly #pipes = new Map<string, Set<Pipe>>();
  #size = 0;
  /** Connections that wait for a place, the oldest first. They take a descriptor each, and next to no memory. */
  readonly #lobby = new Map<Deno.TcpConn, { readonly address: string; readonly since: number }>();
  /** How many may be open: fewer than configured once the process ran out of descriptors. */
  #most: number;
  #drained: PromiseWithResolvers<void> | undefined;
  readonly #accepting: Promise<void>;
  /** The next look at who is silent; there is none while nobody is connected. */
  #sweep: Disposable | undefined;

  /** @throws {Deno.errors.AddrInUse} If the port is taken. */
  constructor(options: TcpFrontOptions) {
    this.#options = options;
    this.#most = options.connections ?? CONNECTIONS;
    this.#listener = Deno.listen({ hostname: options.hostname, port: options.port });
    this.#accepting = this.#accept();
  }

  /** Where the next connections go. */
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

  /** Number of open connections. */
  get connections(): number {
    return this.#size;
  }

  async #accept(): Promise<void> {
    while (true) {
      let connection: Deno.TcpConn;
      try {
        connection = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        // It broke off while it waited to be accepted.
        if (isClientError(error)) continue;
        if (isOutOfDescriptors(error)) this.releaseDescriptors();
        await sleep(this.#options.clock, AGAIN);
        continue;
      }
      if (this.target === undefined) {
        if (this.isReopening) this.#wait(connection);
        else close(connection);
      } else if (this.#size < this.#most || this.#evict(connection.remoteAddr.hostname)) {
        this.#pipe(connection, this.target);
      } else this.#wait(connection);
    }
  }

  #wait(connection: Deno.TcpConn): void {
    const { clock, connections = CONNECTIONS } = this.#options;
    this.#lobby.set(connection, { address: connection.remoteAddr.hostname, since: clock.elapsed() });
    // Connections that wait too long are closed even if no other is open.
    this.#sweep ??= this.#sweepLater();
    if (this.#lobby.size > 2 * connections) this.#dismiss(this.#greediest());
  }

  /** The oldest that waits of the client that waits most. */
  #greediest(): Deno.TcpConn {
    const all = Map.groupBy(this.#lobby, ([, { address }]) => address);
    const [most] = [...all.values()].sort((a, b) => b.length - a.length);
    return most![0]![0];
  }

  #dismiss(connection: Deno.TcpConn): void {
    this.#lobby.delete(connection);
    close(connection);
  }

  /** Gives free places to those who wait: first to the client that has the fewest connections. */
  #admit(): void {
    while (this.target !== undefined && this.#lobby.size > 0) {
      let next: Deno.TcpConn | undefined;
      let fewest = Infinity;
      for (const [connection, { address }] of this.#lobby) {
        const own = this.#pipes.get(address)?.size ?? 0;
        if (own < fewest) [next, fewest] = [connection, own];
      }
      const { address } = this.#lobby.get(next!)!;
      if (this.#size >= this.#most && !this.#evict(address)) return;
      this.#lobby.delete(next!);
      this.#pipe(next!, this.target);
    }
  }

  async #pipe(outer: Deno.TcpConn, target: Target): Promise<void> {
    const { clock } = this.#options;
    const pipe = new Pipe(outer, clock);
    this.#add(pipe);
    target.connections++;
    this.#sweep ??= this.#sweepLater();
    try {
      await pipe.run(target);
    } catch (error) {
      // Either end broke off, or was closed: so is the other.
      if (isOutOfDescriptors(error)) this.releaseDescriptors();
    } finally {
      pipe.close();
      this.#remove(pipe);
      if (this.#size === 0) this.#drained?.resolve();
      this.#admit();
      if (--target.connections === 0) target.onIdle?.();
    }
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
    // Half of the connections have returned their descriptors, so the limit may be the configured one again.
    if (this.#size * 2 < this.#most) this.#most = this.#options.connections ?? CONNECTIONS;
  }

  /**
   * Closes a connection to make room for one of `address`: of the client with the most connections, or of the same client. A client that has fewer loses
   * none.
   *
   * @returns Whether there is room now.
   */
  #evict(address: string | undefined): boolean {
    const evicted = evictedFor(address, this.#pipes, this.#options.clock.elapsed());
    if (evicted === undefined) return false;
    evicted.close();
    // Its place is free now, and not when its reads have ended.
    this.#remove(evicted);
    return true;
  }

  /** Closes some connections, and admits fewer from now on: the process has no descriptors left. */
  releaseDescriptors(): void {
    const before = this.#size;
    for (const connection of this.#lobby.keys()) this.#dismiss(connection);
    for (let i = 0; i < RELEASED && this.#evict(undefined); i++);
    this.#most = Math.max(RELEASED, Math.min(this.#most, before - RELEASED));
  }

  #sweepLater(): Disposable {
    const { clock, firstByte = FIRST_BYTE } = this.#options;
    return clock.after(Math.max(50, firstByte / 4), () => {
      this.#closeSilent();
      // Others may have returned descriptors meanwhile.
      this.#most = Math.min(this.#most + 1, this.#options.connections ?? CONNECTIONS);
      this.#admit();
      this.#sweep = this.#size + this.#lobby.size === 0 ? undefined : this.#sweepLater();
    });
  }

  #closeSilent(): void {
    const { clock, firstByte = FIRST_BYTE } = this.#options;
    const now = clock.elapsed();
    for (const [connection, { since }] of this.#lobby) if (now - since > firstByte) this.#dismiss(connection);
    for (const pipes of this.#pipes.values()) for (const pipe of pipes) if (this.#isSilent(pipe, now)) pipe.close();
  }

  #isSilent({ opened, heard, writing, paused, isAsking }: Pipe, now: number): boolean {
    const { firstByte = FIRST_BYTE, silence = 180_000 } = this.#options;
    // It does not read what it is told, or sends what is no request.
    if (writing !== undefined && now - writing > firstByte) return true;
    if (paused !== undefined && !isAsking && now - paused > firstByte) return true;
    return heard === undefined ? now - opened > firstByte : now - heard > silence;
  }

  /** Takes no more connections in; those that are open go on. */
  stopListening(): void {
    for (const connection of this.#lobby.keys()) this.#dismiss(connection);
    try {
      this.#listener.close();
    } catch { /* it was closed before */ }
  }

  /** Settles when all connections have ended: what the server said last has then been sent on. */
  async drained(): Promise<void> {
    if (this.#size === 0) return;
    this.#drained ??= Promise.withResolvers<void>();
    await this.#drained.promise;
  }

  /** Closes the port and all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.#sweep?.[Symbol.dispose]();
    for (const connection of this.#lobby.keys()) this.#dismiss(connection);
    for (const pipes of this.#pipes.values()) for (const pipe of pipes) pipe.close();
    await this.#accepting;
  }
}

/** Whether a connection could not be accepted because its client broke it off. */
export function isClientError(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return ["ECONNABORTED", "ECONNRESET", "ENOTCONN"].includes(code as string);
}

/** Whether the process may open nothing more (EMFILE), or the machine (ENFILE). */
export function isOutOfDescriptors(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return code === "EMFILE" || code === "ENFILE";
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch { /* it was closed before */ }
}
