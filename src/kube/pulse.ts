/**
 * Whether the connection still lives. All requests and watches of an operator share one HTTP/2 connection: when a machine in between drops it without a
 * word, every stream of it stays open and nothing comes any more. So where nothing was heard for some seconds a small request is sent on the same
 * connection; where that is not answered, the connection is given up: the next request opens another, what was under way fails, and watches go on from
 * where they were.
 *
 * client-go has the same by a ping of HTTP/2 (`golang.org/x/net/http2`, ReadIdleTimeout 30 s and PingTimeout 15 s), which `fetch` does not offer;
 * `http2.ts` pings each connection besides, since an answer here says nothing of those over which further watches go.
 */
import { type Clock, sleep } from "../base/clock.ts";
import type { Connection, Outgoing } from "./connection.ts";

// Together with PATIENCE and GRACE below ten seconds. A renewal of the lease every two seconds is heard as well: a leader sends nothing more than that.
const SILENCE = 4000;
const PATIENCE = 4000;
// An event loop that was held up finds its timers and the answer at one time: the answer has to win.
const GRACE = 250;

/** Any answer says that the connection lives. Every user may ask this, no queue of the server holds it up, and it looks at nothing but itself. */
const PATH = "/livez?exclude=etcd";

/** Options of {@linkcode Pulse}. */
export interface PulseOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** What the server's audit log shows. */
  readonly userAgent: string;
  /** Told when a connection was given up, and again only after something was heard. */
  readonly onDead?: (error: Error) => void;
}

/** Looks after a connection. */
export class Pulse {
  readonly #options: PulseOptions;
  /** What fails when the connection is given up. */
  readonly #cuts = new Set<(error: Error) => void>();
  /** When something came last. */
  #heard: number;
  /** Whether nothing was heard since a connection was given up. */
  #isDead = false;
  /** How often a connection was given up. */
  deaths = 0;

  constructor(options: PulseOptions) {
    this.#options = options;
    this.#heard = options.clock.elapsed();
  }

  /** Something came: an answer, a piece of a watch. */
  heard(): void {
    this.#heard = this.#options.clock.elapsed();
    this.#isDead = false;
  }

  /**
   * Calls back when the connection is given up. Disposing of the answer ends that.
   *
   * @param cut Ends what goes on.
   */
  onCut(cut: (error: Error) => void): Disposable {
    this.#cuts.add(cut);
    return { [Symbol.dispose]: () => void this.#cuts.delete(cut) };
  }

  /** A request that fails when the connection is given up, though no answer ever comes. */
  guard<T>(request: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cut = (error: Error): void => reject(error);
      this.#cuts.add(cut);
      request.then((answer) => {
        this.#cuts.delete(cut);
        this.heard();
        resolve(answer);
      }, (error) => {
        this.#cuts.delete(cut);
        reject(error);
      });
    });
  }

  /** Looks after the connection until the signal; at once over where it cannot be opened anew, as in a test's process. */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, clock } = this.#options;
    if (connection.reset === undefined) return;
    while (!signal.aborted) {
      const left = this.#heard + SILENCE - clock.elapsed();
      if (left > 0) await sleep(clock, left, signal).catch(() => undefined);
      else if (!await this.#beats(signal)) this.#giveUp();
    }
  }

  /** Whether a small request is answered, however. A server that refuses connections is not there: a new connection would be refused too. */
  async #beats(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const before = this.#heard;
    const over = new AbortController();
    const isOver = (): void => over.abort();
    signal.addEventListener("abort", isOver, { once: true });
    const answered = this.#ask(over.signal).then(() => true, () => true);
    const late = sleep(clock, PATIENCE, over.signal).then(() => sleep(clock, GRACE, over.signal)).then(
      () => false,
      () => true,
    );
    const beats = await Promise.race([answered, late]) || this.#heard !== before;
    over.abort();
    signal.removeEventListener("abort", isOver);
    if (beats) this.heard();
    else this.#heard = clock.elapsed();
    return beats;
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const { connection, userAgent } = this.#options;
    const url = connection.url + PATH;
    const headers = { "user-agent": userAgent };
    const outgoing: Outgoing = { method: "GET", headers, body: null, signal, isUrgent: true };
    const response = await (connection.send?.(url, outgoing) ?? connection.fetch(new Request(url, outgoing)));
    await response.body?.cancel();
  }

  #giveUp(): void {
    const { connection, onDead } = this.#options;
    this.deaths++;
    connection.reset?.();
    const error = new Error(
      `the connection is dead: nothing came for ${
        (SILENCE + PATIENCE) / 1000
      } s, not even the answer to a small request`,
    );
    for (const cut of [...this.#cuts]) cut(error);
    // Once, however often it is tried again.
    if (!this.#isDead) onDead?.(error);
    this.#isDead = true;
  }
}
