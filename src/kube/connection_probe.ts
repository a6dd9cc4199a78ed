/**
 * Detects a dead connection. All requests and watches of an operator share one HTTP/2 connection.
 * If a router or firewall drops it silently, its streams stay open and receive no bytes.
 *
 * After 4 s without received bytes, a small request probes the same connection. If it gets no
 * response, the connection is closed: pending requests fail, the next request opens another
 * connection, and watches resume from the last version that they received.
 *
 * client-go does the same with HTTP/2 PING (`golang.org/x/net/http2`, ReadIdleTimeout 30 s and
 * PingTimeout 15 s), which `fetch` does not offer. The client in `http2` also pings each
 * connection, because this probe uses only the first one.
 */
import { type Clock, sleep } from "../base/clock.ts";
import type { Connection, WireRequest } from "./connection.ts";

// In milliseconds, together less than ten seconds. A leader renews its Lease every two seconds, so
// its connection is never probed.
const SILENCE = 4000;
const TIMEOUT = 4000;
// After the event loop was blocked, the timeout and the response are due at once. The additional
// delay lets the response win.
const GRACE = 250;

/**
 * Path of the probe. Any response proves that the connection works. By default every user may
 * request this path, and with `exclude=etcd` it does not depend on another system.
 */
const PATH = "/livez?exclude=etcd";

/** Options of {@linkcode ConnectionProbe}. */
export interface ConnectionProbeOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** User agent of the probe, for the server's audit log. */
  readonly userAgent: string;
  /**
   * Called when a connection is closed as dead, once per outage: it is called again only after
   * bytes were received.
   */
  readonly onDead?: (error: Error) => void;
}

/** Probes a connection, and closes it if it is dead. */
export class ConnectionProbe {
  readonly #options: ConnectionProbeOptions;
  /** Callbacks for when the connection is closed as dead. */
  readonly #onDead = new Set<(error: Error) => void>();
  /** When bytes were last received, by the clock's `elapsed`. */
  #lastReceived: number;
  /** Whether no bytes were received since the last connection was closed as dead. */
  #isDead = false;
  /** Number of connections that were closed because they were dead. */
  deadConnections = 0;

  constructor(options: ConnectionProbeOptions) {
    this.#options = options;
    this.#lastReceived = options.clock.elapsed();
  }

  /** Reports that bytes were received: a response, or a part of a watch. */
  received(): void {
    this.#lastReceived = this.#options.clock.elapsed();
    this.#isDead = false;
  }

  /**
   * Adds a callback for when the connection is closed as dead. Disposing of the result removes it.
   *
   * @param callback Called with the error.
   */
  onDead(callback: (error: Error) => void): Disposable {
    this.#onDead.add(callback);
    return { [Symbol.dispose]: () => void this.#onDead.delete(callback) };
  }

  /**
   * Returns a promise that settles as the request does, and fails if the connection is closed as
   * dead.
   */
  guard<T>(request: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onDead = (error: Error): void => reject(error);
      this.#onDead.add(onDead);
      request.then((result) => {
        this.#onDead.delete(onDead);
        this.received();
        resolve(result);
      }, (error) => {
        this.#onDead.delete(onDead);
        reject(error);
      });
    });
  }

  /**
   * Probes the connection until the signal is aborted. It returns at once if the connection cannot
   * be reset.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, clock } = this.#options;
    if (connection.reset === undefined) return;
    while (!signal.aborted) {
      const remaining = this.#lastReceived + SILENCE - clock.elapsed();
      if (remaining > 0) await sleep(clock, remaining, signal).catch(() => undefined);
      else if (!await this.#responds(signal)) this.#closeDead();
    }
  }

  /**
   * Returns whether the probe gets any response. A refused connection counts as a response, because
   * a new connection would also be refused.
   */
  async #responds(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const before = this.#lastReceived;
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal.addEventListener("abort", end, { once: true });
    const responded = this.#probe(ended.signal).then(() => true, () => true);
    const timedOut = sleep(clock, TIMEOUT, ended.signal).then(() => sleep(clock, GRACE, ended.signal)).then(
      () => false,
      () => true,
    );
    const responds = await Promise.race([responded, timedOut]) || this.#lastReceived !== before;
    ended.abort();
    signal.removeEventListener("abort", end);
    if (responds) this.received();
    else this.#lastReceived = clock.elapsed();
    return responds;
  }

  async #probe(signal: AbortSignal): Promise<void> {
    const { connection, userAgent } = this.#options;
    const url = connection.url + PATH;
    const headers = { "user-agent": userAgent };
    const request: WireRequest = { method: "GET", headers, body: null, signal, isUrgent: true };
    const response = await (connection.send?.(url, request) ?? connection.fetch(new Request(url, request)));
    await response.body?.cancel();
  }

  #closeDead(): void {
    const { connection, onDead } = this.#options;
    this.deadConnections++;
    connection.reset?.();
    const error = new Error(
      `the connection is dead: no bytes and no response to a probe for ${(SILENCE + TIMEOUT) / 1000} s`,
    );
    for (const callback of [...this.#onDead]) callback(error);
    // Once per outage, not once per attempt.
    if (!this.#isDead) onDead?.(error);
    this.#isDead = true;
  }
}
