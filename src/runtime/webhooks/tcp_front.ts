/**
 * A TCP port that is never closed while what answers behind it changes. Each connection is piped to the server that is current when it comes, and stays
 * with it: so a server takes over with another certificate, and nobody notices.
 *
 * Tried in its place: two listeners on one port (`reusePort`). The one that closes takes along what waits in its queue: 94 of 3,000 fresh connections
 * were reset. `setSecureContext` of `node:https` loses none, but is not there in Deno 2.4.
 */
import { type Clock, sleep } from "../../base/clock.ts";

/** Where connections are piped to. */
export interface Target {
  readonly hostname: string;
  readonly port: number;
  /** Connections that go on. The front counts. */
  connections: number;
  /** Told when the last of them has ended. */
  onIdle?: () => void;
}

/** Options of {@linkcode TcpFront}. */
export interface TcpFrontOptions {
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Tells how long a connection has been silent. */
  readonly clock: Clock;
  /** How many connections may be open. What comes beyond is closed at once. @default {1024} */
  readonly connections?: number;
  /** For how many milliseconds a connection may be open before the server says anything: a handshake takes a few. @default {10_000} */
  readonly firstByte?: number;
  /** After how many milliseconds in which the server said nothing a connection is closed. Clients give idle ones up after 90 s. @default {180_000} */
  readonly silence?: number;
}

// A TLS record has 16 KiB at most.
const CHUNK = 16_640;
const FIRST_BYTE = 10_000;
// How long it is until the next is accepted, when one could not be.
const AGAIN = 10;

interface Pipe {
  readonly opened: number;
  /** When the server said something last. */
  heard: number | undefined;
  close(): void;
}

/** A TCP port that is never closed. */
export class TcpFront implements AsyncDisposable {
  /** Where the next connections go. */
  target: Target | undefined;
  readonly #listener: Deno.TcpListener;
  readonly #options: TcpFrontOptions;
  readonly #pipes = new Set<Pipe>();
  #drained: PromiseWithResolvers<void> | undefined;
  readonly #accepting: Promise<void>;
  /** The next look at who is silent; there is none while nobody is connected. */
  #sweep: Disposable | undefined;

  /** @throws {Deno.errors.AddrInUse} If the port is taken. */
  constructor(options: TcpFrontOptions) {
    this.#options = options;
    this.#listener = Deno.listen({ hostname: options.hostname, port: options.port });
    this.#accepting = this.#accept();
  }

  /** The port that it listens on. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#pipes.size;
  }

  async #accept(): Promise<void> {
    while (true) {
      let connection: Deno.TcpConn;
      try {
        connection = await this.#listener.accept();
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
        // Too many files, a connection that broke off while it waited: the next one may be well.
        await sleep(this.#options.clock, AGAIN);
        continue;
      }
      const { connections = 1024 } = this.#options;
      if (this.target === undefined || this.#pipes.size >= connections) close(connection);
      else this.#pipe(connection, this.target);
    }
  }

  async #pipe(outer: Deno.TcpConn, target: Target): Promise<void> {
    target.connections++;
    const { clock } = this.#options;
    let inner: Deno.TcpConn | undefined;
    const pipe: Pipe = {
      opened: clock.elapsed(),
      heard: undefined,
      close() {
        close(outer);
        if (inner !== undefined) close(inner);
      },
    };
    this.#pipes.add(pipe);
    this.#sweep ??= this.#sweepLater();
    try {
      inner = await Deno.connect({ hostname: target.hostname, port: target.port });
      outer.setNoDelay(true);
      inner.setNoDelay(true);
      copy(outer, inner).catch(() => {});
      // A connection is over when the server has said its last.
      await copy(inner, outer, () => pipe.heard = clock.elapsed());
    } catch {
      // Either end broke off, or was closed for its silence: so is the other.
    } finally {
      pipe.close();
      this.#pipes.delete(pipe);
      if (this.#pipes.size === 0) this.#drained?.resolve();
      if (--target.connections === 0) target.onIdle?.();
    }
  }

  #sweepLater(): Disposable {
    const { clock, firstByte = FIRST_BYTE } = this.#options;
    return clock.after(Math.max(50, firstByte / 4), () => {
      this.#closeSilent();
      this.#sweep = this.#pipes.size === 0 ? undefined : this.#sweepLater();
    });
  }

  #closeSilent(): void {
    const { clock, firstByte = FIRST_BYTE, silence = 180_000 } = this.#options;
    const now = clock.elapsed();
    for (const { opened, heard, close } of this.#pipes) {
      if (heard === undefined ? now - opened > firstByte : now - heard > silence) close();
    }
  }

  /** Takes no more connections in; those that are open go on. */
  stopListening(): void {
    try {
      this.#listener.close();
    } catch { /* it was closed before */ }
  }

  /** Settles when all connections have ended: what the server said last has then been sent on. */
  async drained(): Promise<void> {
    if (this.#pipes.size === 0) return;
    this.#drained ??= Promise.withResolvers<void>();
    await this.#drained.promise;
  }

  /** Closes the port and all connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.#sweep?.[Symbol.dispose]();
    for (const { close } of this.#pipes) close();
    await this.#accepting;
  }
}

/** Until the one says no more; then the other is told so. */
async function copy(from: Deno.TcpConn, to: Deno.TcpConn, heard: () => void = () => {}): Promise<void> {
  const buffer = new Uint8Array(CHUNK);
  for (let size = await from.read(buffer); size !== null; size = await from.read(buffer)) {
    for (let sent = 0; sent < size;) sent += await to.write(buffer.subarray(sent, size));
    heard();
  }
  await to.closeWrite();
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch { /* it was closed before */ }
}
