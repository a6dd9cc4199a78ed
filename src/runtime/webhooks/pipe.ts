/**
 * One client connection of the webhook port, and its connection to the TLS server behind the port.
 */
import type { Clock } from "../../base/clock.ts";
import type { Caller, Exchange } from "./caller.ts";
import { type Evictable, RANK } from "./eviction.ts";

/** A server that connections are piped to. */
export interface Target {
  readonly hostname: string;
  readonly port: number;
  /** The open connections, by their local port, which is the remote port that the server sees. */
  readonly callers: Map<number, Caller>;
  /** Number of open connections. The front maintains this. */
  connections: number;
  /** Called when the last connection has ended. */
  onIdle?: () => void;
  /** Called when the server no longer accepts connections. It may replace the front's target. */
  onRefused?: () => void;
}

/**
 * Thrown by {@linkcode Pipe.run} if the server does not accept connections. The pipe can run again.
 */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused";

  /** @param cause Why the connection failed. */
  constructor(cause: unknown) {
    super("Cannot connect to the TLS server behind the webhook port", { cause });
  }
}

/** Thrown when the pipe was closed while it was being set up. */
class Closed extends Error {}

/**
 * Called when the number of requests whose body has not arrived changes.
 *
 * @param change By how many.
 * @param isAbandoned Whether they were rejected or closed before their body arrived.
 */
export type UnreadListener = (change: number, isAbandoned: boolean) => void;

/** The progress of a request. */
type Stage = "head" | "body" | "waiting" | "handling";

// Sizes of read buffers, in bytes. Most connections are idle and have a small buffer. A connection
// that sends more gets one for a whole TLS record, which has at most 16 KiB.
const FIRST_CHUNK = 2048;
const CHUNK = 16_640;
// Maximum number of bytes that a client may send before the server reads a request, in bytes. It
// fits the handshake, a request head and a small body. Without this limit, the server would buffer
// up to 1 MiB per connection.
const MAX_AHEAD = 24 * 1024;
// Limits of what a client may still send of a rejected body: a time in milliseconds, and a number
// of bytes.
const LINGER = 1000;
const LINGER_BYTES = 16 * 2 ** 20;
// A server that stops listening resets the connections that it has not accepted yet. A second
// attempt shows whether it still listens.
const ATTEMPTS = 2;

/** A client connection and the connection to the server behind it. */
export class Pipe implements Caller, Evictable {
  readonly address: string;
  /** When the connection was accepted. */
  readonly accepted: number;
  /** When it was last connected to a server. */
  opened: number;
  /** When the server last sent bytes; `undefined` before the first. */
  lastReceived: number | undefined;
  /** When either side last sent bytes. */
  #active: number;
  /** When the pending write to the client began. */
  writing: number | undefined;
  /** When reading from the client was paused, because the server had read none of its requests. */
  paused: number | undefined;
  readonly #outer: Deno.TcpConn;
  readonly #clock: Clock;
  readonly #onUnread: UnreadListener;
  #inner: Deno.TcpConn | undefined;
  #isClosed = false;
  /**
   * The bytes that the client sent before the server sent any. If the server stops, the next one
   * receives them instead.
   */
  #early: Uint8Array[] | undefined = [];
  /** Whether the current server has received all of `#early`. */
  #isConnected = false;
  /**
   * The connection to a server on which a write failed. Only the first operation on a connection
   * reports a reset.
   */
  #broken: Deno.TcpConn | undefined;
  /** Settles when the client sends no more bytes. It is shared by all servers of this pipe. */
  #forwarded: Promise<void> | undefined;
  #hasClientEnded = false;
  /** Whether a review of this connection was ever handled. */
  #wasServed = false;
  /** Whether the server has sent its last byte. */
  #hasServerEnded = false;
  /** Whether a response was sent before the body of its request was read. */
  #isUnread = false;
  /** Number of requests without a response, by stage. */
  readonly #stages: Record<Stage, number> = { head: 0, body: 0, waiting: 0, handling: 0 };
  /** Number of bytes that the server sent. */
  #sent = 0;
  /** Minimum of `#sent` once the last response has been sent. */
  #expectedSent = 0;
  /** Number of bytes that the client sent since the server last read a request. */
  #ahead = 0;
  #resume: (() => void) | undefined;

  /**
   * @param outer The client's connection.
   * @param clock Measures how long the connection has been silent.
   * @param onUnread Counts requests whose body has not arrived.
   */
  constructor(outer: Deno.TcpConn, clock: Clock, onUnread: UnreadListener) {
    this.#outer = outer;
    this.#clock = clock;
    this.#onUnread = onUnread;
    this.address = outer.remoteAddr.hostname;
    this.accepted = this.opened = this.#active = clock.elapsed();
  }

  /** Whether a request has no response yet. */
  get hasPendingRequest(): boolean {
    const { head, body, waiting, handling } = this.#stages;
    return head + body + waiting + handling > 0;
  }

  /** Number of requests whose body has not arrived; 0 after the connection was closed. */
  get unread(): number {
    return this.#isClosed ? 0 : this.#stages.head + this.#stages.body;
  }

  /**
   * Whether another server can take over the connection, because the client has received no bytes.
   */
  get canRestart(): boolean {
    return this.#early !== undefined && !this.#isClosed;
  }

  get rank(): number {
    const { waiting, handling } = this.#stages;
    if (handling > 0) return RANK.handling;
    if (this.#sent < this.#expectedSent) return RANK.sending;
    if (waiting > 0) return RANK.waiting;
    return this.#wasServed ? RANK.idle : RANK.unserved;
  }

  /**
   * Start of the current rank. Before the first response, it is the time of opening, because a
   * client that sends single bytes would otherwise seem active.
   */
  get since(): number {
    return this.rank === RANK.unserved ? this.opened : this.#active;
  }

  /**
   * Pipes bytes between the client and a server until one of them ends.
   *
   * @param target The server.
   * @throws {ServerRefused} If the server does not accept the connection.
   */
  async run(target: Target): Promise<void> {
    this.opened = this.#active = this.#clock.elapsed();
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#pipe(target);
      } catch (error) {
        if (!this.canRestart || !isReset(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #pipe(target: Target): Promise<void> {
    const inner = this.#inner = await this.#connect(target);
    const { port } = inner.localAddr;
    target.callers.set(port, this);
    try {
      this.#outer.setNoDelay(true);
      inner.setNoDelay(true);
      // The client may continue to send meanwhile, so the list may grow in this loop.
      for (let i = 0; this.#early !== undefined && i < this.#early.length; i++) {
        await writeAll(inner, this.#early[i]!);
      }
      if (this.#hasClientEnded) await inner.closeWrite();
      this.#isConnected = true;
      // If the client closes the connection, the connection to the server is also closed.
      this.#forwarded ??= this.#pipeToServer().catch(() => this.close());
      // The connection ends when the server has sent its last byte.
      await this.#pipeToClient(inner);
      if (this.#isUnread) await this.#drainRejected(this.#forwarded);
    } finally {
      this.#isConnected = false;
      // A newer connection may have the same port.
      if (target.callers.get(port) === this) target.callers.delete(port);
      close(inner);
    }
  }

  async #connect({ hostname, port }: Target): Promise<Deno.TcpConn> {
    let inner: Deno.TcpConn;
    try {
      inner = await Deno.connect({ hostname, port });
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionRefused) throw new ServerRefused(error);
      throw error;
    }
    if (!this.#isClosed) return inner;
    close(inner);
    throw new Closed();
  }

  async #pipeToServer(): Promise<void> {
    let buffer = new Uint8Array(FIRST_CHUNK);
    for (let size = await this.#outer.read(buffer); size !== null; size = await this.#outer.read(buffer)) {
      this.#active = this.#clock.elapsed();
      this.#ahead += size;
      if (this.#ahead > MAX_AHEAD && this.#stages.body === 0) await this.#waitForRead();
      const bytes = buffer.subarray(0, size);
      this.#early?.push(bytes.slice());
      if (this.#isConnected && !this.#hasServerEnded) await this.#sendToServer(bytes);
      if (this.#ahead > LINGER_BYTES && this.#hasServerEnded) return;
      if (size === buffer.length && size < CHUNK) buffer = new Uint8Array(CHUNK);
    }
    this.#hasClientEnded = true;
    if (this.#isConnected && !this.#hasServerEnded) await this.#inner!.closeWrite();
  }

  async #sendToServer(bytes: Uint8Array): Promise<void> {
    const inner = this.#inner!;
    try {
      for (let sent = 0; sent < bytes.length && !this.#hasServerEnded;) {
        sent += await inner.write(bytes.subarray(sent));
      }
    } catch (error) {
      // The next server receives these bytes again.
      if (this.#early !== undefined) this.#broken = inner;
      if (this.#early !== undefined || inner !== this.#inner) return;
      // The server may close the connection before it has read everything. Its response must still
      // reach the client.
      if (!this.#isUnread) throw error;
    }
  }

  async #pipeToClient(inner: Deno.TcpConn): Promise<void> {
    let buffer = new Uint8Array(FIRST_CHUNK);
    for (
      let size = await this.#readServer(inner, buffer);
      size !== null;
      size = await this.#readServer(inner, buffer)
    ) {
      this.#early = undefined;
      this.writing = this.#clock.elapsed();
      await writeAll(this.#outer, buffer.subarray(0, size));
      this.writing = undefined;
      this.#sent += size;
      this.lastReceived = this.#active = this.#clock.elapsed();
      if (size === buffer.length && size < CHUNK) buffer = new Uint8Array(CHUNK);
    }
    if (this.canRestart && this.#broken === inner) throw new Deno.errors.ConnectionReset();
    this.#hasServerEnded = true;
    await this.#outer.closeWrite();
  }

  /**
   * Reads from the server. A server that has not read a whole request resets the connection after
   * its response, which counts as the end.
   */
  async #readServer(inner: Deno.TcpConn, buffer: Uint8Array): Promise<number | null> {
    try {
      return await inner.read(buffer);
    } catch (error) {
      if (this.#isUnread) return null;
      throw error;
    }
  }

  /**
   * Reads and drops the rest of a rejected body for at most a second. Closing earlier would reset
   * the connection, and the client might not receive the reason of the rejection.
   */
  async #drainRejected(forwarded: Promise<void>): Promise<void> {
    this.#resumeReading();
    const { promise, resolve } = Promise.withResolvers<void>();
    using _timer = this.#clock.after(LINGER, resolve);
    await Promise.race([forwarded, promise]);
  }

  /** Waits until the server reads a request of the client, or the connection is closed. */
  async #waitForRead(): Promise<void> {
    this.paused = this.#clock.elapsed();
    await new Promise<void>((resolve) => this.#resume = resolve);
    if (this.#isClosed) throw new Closed();
  }

  #resumeReading(): void {
    this.#ahead = 0;
    this.paused = undefined;
    this.#resume?.();
    this.#resume = undefined;
  }

  began(): Exchange {
    const stages = this.#stages;
    let stage: Stage = "head";
    let hasEnded = false;
    const move = (next: Stage | undefined): void => {
      const before = this.unread;
      stages[stage]--;
      if (next !== undefined) stages[stage = next]++;
      if (this.unread !== before) this.#onUnread(this.unread - before, next === undefined);
    };
    // A body may end after the response was sent.
    const enter = (next: Stage): void => {
      if (!hasEnded) move(next);
    };
    stages[stage]++;
    if (!this.#isClosed) this.#onUnread(1, false);
    return {
      bodyBegan: () => {
        enter("body");
        this.#resumeReading();
      },
      bodyEnded: () => {
        enter("waiting");
        this.#ahead = 0;
      },
      handlingBegan: () => enter("handling"),
      ended: (length) => {
        hasEnded = true;
        if (stage === "head" || stage === "body") this.#isUnread = true;
        move(undefined);
        this.#wasServed ||= stage === "handling";
        if (stage === "handling") this.#expectedSent = this.#sent + length;
        this.#resumeReading();
      },
    };
  }

  /** Closes both connections. */
  close(): void {
    const { unread } = this;
    this.#isClosed = true;
    if (unread > 0) this.#onUnread(-unread, true);
    close(this.#outer);
    if (this.#inner !== undefined) close(this.#inner);
    this.#resume?.();
  }
}

function isReset(error: unknown): boolean {
  const { BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected } = Deno.errors;
  return [BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected].some((type) => error instanceof type);
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch { /* It is already closed. */ }
}
