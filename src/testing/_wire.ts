/** The way between clients and the server of a memory cluster: it logs, and it can be faulty. */
import { type Clock, sleep } from "../base/clock.ts";
import type { Apiserver, FetchOptions } from "../apiserver/mod.ts";
import type { Fault } from "./faults.ts";
import { isMeant, type OpenRecord, recordOf, type RequestFilter, type RequestRecord } from "./request_log.ts";

/** A fault that waits for requests. */
export interface Injected extends Disposable {
  /** The requests and watches that it has befallen. */
  readonly hits: readonly RequestRecord[];
  /** How many more it will befall. */
  readonly left: number;
}

/** Which requests a fault befalls, and how many. */
export interface FaultFilter extends RequestFilter {
  /** How many. @default {1} */
  readonly times?: number;
  /** How many are let through before. @default {0} */
  readonly after?: number;
}

/** How a request is sent. */
export interface WireOptions extends FetchOptions {
  /** Told what the server answered, before it arrives. */
  readonly answered?: (record: RequestRecord, response: Response) => Promise<void>;
}

interface Waiting extends Injected {
  readonly fault: Fault;
  readonly filter: FaultFilter;
  readonly hits: RequestRecord[];
  left: number;
  skipped: number;
}

/** The wire of a memory cluster. */
export class Wire {
  readonly records: RequestRecord[] = [];
  /** Requests of runs that a fault holds: they go on when time does. */
  held = 0;
  /** Number of requests that an injected fault or an unreachable server disturbed. */
  disturbed = 0;
  readonly #server: Apiserver;
  readonly #clock: Clock;
  #waiting: Waiting[] = [];
  /** Requests whose watches may be open. */
  #watches: { readonly request: Request; readonly record: OpenRecord }[] = [];
  /** Until when the server is down. */
  #downUntil = -Infinity;

  constructor(server: Apiserver, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Sends a request to the server. */
  async send(request: Request, { answered: tell, ...options }: WireOptions): Promise<Response> {
    const hasBody = request.body !== null;
    const text = hasBody ? await request.text() : undefined;
    const record = recordOf(request, text, this.#clock.now());
    this.records.push(record);
    if (this.#clock.now() < this.#downUntil) {
      this.disturbed++;
      throw broken("connection refused");
    }
    const sent = hasBody ? again(request, text ?? "") : request;
    const hits = this.#hits(record);
    if (hits.length > 0) this.disturbed++;
    for (const { delay } of hits) if (delay !== undefined) await this.#hold(record, delay, request.signal);
    if (hits.some(({ breaks }) => breaks === "before")) throw broken("connection refused");
    const answer = hits.find((fault) => fault.answer !== undefined && !(fault.watch && record.verb === "watch"))
      ?.answer;
    if (answer !== undefined) return answered(record, answer(record));
    const response = answered(record, await this.#server.fetch(sent, options));
    await tell?.(record, response);
    if (hits.some(({ breaks }) => breaks === "after")) {
      await response.body?.cancel();
      delete record.status;
      throw broken("connection reset by peer");
    }
    if (record.verb === "watch" && response.ok) {
      this.#remember(sent, record);
      for (const { watch } of hits) if (watch !== undefined) this.#server.disturb(sent, watch);
    }
    return response;
  }

  /** Lets a fault befall the requests to come; one of watches befalls those that are open first. */
  inject(fault: Fault, filter: FaultFilter): Injected {
    const waiting: Waiting = {
      fault,
      filter,
      hits: [],
      left: filter.times ?? 1,
      skipped: 0,
      [Symbol.dispose]: () => void (this.#waiting = this.#waiting.filter((each) => each !== waiting)),
    };
    if (fault.watch !== undefined && filter.after === undefined) {
      for (const { request, record } of [...this.#watches]) {
        if (waiting.left === 0) break;
        if (!isMeant(filter, record) || !this.#server.disturb(request, fault.watch)) continue;
        hit(waiting, record);
      }
    }
    if (waiting.left > 0) this.#waiting.push(waiting);
    return waiting;
  }

  /** Breaks all connections; nothing can be reached until the time. */
  goDown(until: number): void {
    this.#downUntil = until;
    this.#server.cut();
  }

  #hits(record: OpenRecord): Fault[] {
    const hits: Fault[] = [];
    for (const waiting of this.#waiting) {
      const { fault, filter } = waiting;
      if (!isMeant(filter, record) || (isOfWatches(fault) && record.verb !== "watch")) continue;
      if (waiting.skipped < (filter.after ?? 0)) {
        waiting.skipped++;
        continue;
      }
      hit(waiting, record);
      hits.push(fault);
    }
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    return hits;
  }

  async #hold({ verb }: RequestRecord, delay: number, signal: AbortSignal): Promise<void> {
    // Lists and watches are an informer's, which no run waits for.
    const isOfRun = verb !== "list" && verb !== "watch";
    if (isOfRun) this.held++;
    await sleep(this.#clock, delay, signal).finally(() => isOfRun && this.held--);
  }

  #remember(request: Request, record: OpenRecord): void {
    this.#watches.push({ request, record });
    // Most of them have ended by now.
    if (this.#watches.length > 64 + 2 * this.#server.watches) {
      this.#watches = this.#watches.filter(({ request }) => this.#server.isWatching(request));
    }
  }
}

function isOfWatches({ watch, answer }: Fault): boolean {
  return watch !== undefined && answer === undefined;
}

function hit(waiting: Waiting, record: OpenRecord): void {
  waiting.hits.push(record);
  waiting.left--;
  record.faults.push(waiting.fault.name);
}

function answered(record: OpenRecord, response: Response): Response {
  record.status = response.status;
  return response;
}

/** The request again, with the body that was read. */
function again({ url, method, headers, signal }: Request, body: string): Request {
  return new Request(url, { method, headers, signal, body });
}

/** As `fetch` fails, whose own message says nothing. */
function broken(why: string): TypeError {
  return new TypeError("error sending request", { cause: new Error(why) });
}
