/** The connection between clients and the API server of a memory cluster. */
import { type Clock, sleep } from "../base/clock.ts";
import type { AccessDeniedError } from "../apiserver/access/denial.ts";
import type { Apiserver, FetchOptions } from "../apiserver/mod.ts";
import type { Fault, FaultFilter, InjectedFault } from "./faults.ts";
import { matches, type OpenRecord, recordOf, type RequestRecord } from "./request_log.ts";

/** Options for {@linkcode Wire.send}. */
export interface WireOptions extends FetchOptions {
  /** Called if the server rejects the request because its user lacks a permission. */
  readonly onDenied?: (error: AccessDeniedError) => void;
  /** Called with the response of the server before the client receives it. */
  readonly onResponse?: (record: RequestRecord, response: Response) => void;
}

interface PendingFault extends InjectedFault {
  readonly fault: Fault;
  readonly filter: FaultFilter;
  readonly hits: RequestRecord[];
  remaining: number;
  /** Number of matching requests that were not affected because of `filter.after`. */
  skipped: number;
}

/** Records all requests to the API server, and injects faults into them. */
export class Wire {
  /** All requests so far, in order. */
  readonly records: RequestRecord[] = [];
  /** Number of requests of reconciles that a fault delays until the clock moves. */
  delayedRequests = 0;
  /** Number of requests that an injected fault or an unreachable server disturbed. */
  disturbed = 0;
  readonly #server: Apiserver;
  readonly #clock: Clock;
  #pending: PendingFault[] = [];
  /** Requests whose watches may still be open. */
  #watches: { readonly request: Request; readonly record: OpenRecord }[] = [];
  /** When the server is reachable again, in milliseconds since the epoch. */
  #downUntil = -Infinity;

  constructor(server: Apiserver, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /**
   * Sends a request to the server.
   *
   * @throws {TypeError} If a fault breaks the connection, as `fetch` does.
   */
  async send(request: Request, { onResponse, ...options }: WireOptions): Promise<Response> {
    const hasBody = request.body !== null;
    const text = hasBody ? await request.text() : undefined;
    const record = recordOf(request, text, this.#clock.now());
    this.records.push(record);
    if (this.#clock.now() < this.#downUntil) {
      this.disturbed++;
      throw connectionError("connection refused");
    }
    const sent = hasBody ? withBody(request, text ?? "") : request;
    const faults = this.#faultsFor(record);
    if (faults.length > 0) this.disturbed++;
    for (const { delay } of faults) if (delay !== undefined) await this.#delay(record, delay, request.signal);
    if (faults.some(({ disconnect }) => disconnect === "before")) throw connectionError("connection refused");
    const substitute = faults.find((fault) => fault.respond !== undefined && !(fault.watch && record.verb === "watch"));
    if (substitute?.respond !== undefined) return recordStatus(record, substitute.respond(record));
    const response = recordStatus(record, await this.#server.fetch(sent, options));
    onResponse?.(record, response);
    if (faults.some(({ disconnect }) => disconnect === "after")) {
      await response.body?.cancel();
      delete record.status;
      throw connectionError("connection reset by peer");
    }
    if (record.verb === "watch" && response.ok) {
      this.#rememberWatch(sent, record);
      for (const { watch } of faults) if (watch !== undefined) this.#server.injectWatchFault(sent, watch);
    }
    return response;
  }

  /** Injects a fault into matching requests. A fault of watches applies to open watches first. */
  inject(fault: Fault, filter: FaultFilter): InjectedFault {
    const pending: PendingFault = {
      fault,
      filter,
      hits: [],
      remaining: filter.times ?? 1,
      skipped: 0,
      [Symbol.dispose]: () => void (this.#pending = this.#pending.filter((each) => each !== pending)),
    };
    if (fault.watch !== undefined && filter.after === undefined) {
      for (const { request, record } of [...this.#watches]) {
        if (pending.remaining === 0) break;
        if (matches(filter, record) && this.#server.injectWatchFault(request, fault.watch)) recordHit(pending, record);
      }
    }
    if (pending.remaining > 0) this.#pending.push(pending);
    return pending;
  }

  /** Breaks all connections, and refuses new ones until a time in milliseconds since the epoch. */
  goDown(until: number): void {
    this.#downUntil = until;
    this.#server.cutWatches();
  }

  /** Returns the faults to inject into a request. */
  #faultsFor(record: OpenRecord): Fault[] {
    const faults: Fault[] = [];
    for (const pending of this.#pending) {
      const { fault, filter } = pending;
      if (!matches(filter, record) || (isOnlyForWatches(fault) && record.verb !== "watch")) continue;
      if (pending.skipped < (filter.after ?? 0)) {
        pending.skipped++;
        continue;
      }
      recordHit(pending, record);
      faults.push(fault);
    }
    this.#pending = this.#pending.filter(({ remaining }) => remaining > 0);
    return faults;
  }

  async #delay({ verb }: RequestRecord, delay: number, signal: AbortSignal): Promise<void> {
    // Lists and watches are requests of informers, so no reconcile waits for them.
    const isOfReconcile = verb !== "list" && verb !== "watch";
    if (isOfReconcile) this.delayedRequests++;
    await sleep(this.#clock, delay, signal).finally(() => isOfReconcile && this.delayedRequests--);
  }

  #rememberWatch(request: Request, record: OpenRecord): void {
    this.#watches.push({ request, record });
    // Forgets watches that have ended, so that the list does not grow with every watch.
    if (this.#watches.length > 64 + 2 * this.#server.watches) {
      this.#watches = this.#watches.filter(({ request }) => this.#server.isWatching(request));
    }
  }
}

function isOnlyForWatches({ watch, respond }: Fault): boolean {
  return watch !== undefined && respond === undefined;
}

function recordHit(pending: PendingFault, record: OpenRecord): void {
  pending.hits.push(record);
  pending.remaining--;
  record.faults.push(pending.fault.name);
}

function recordStatus(record: OpenRecord, response: Response): Response {
  record.status = response.status;
  return response;
}

/** Returns the request with the body that was read from it. */
function withBody({ url, method, headers, signal }: Request, body: string): Request {
  return new Request(url, { method, headers, signal, body });
}

/** Returns an error like the one that `fetch` throws: only its cause describes the problem. */
function connectionError(cause: string): TypeError {
  return new TypeError("error sending request", { cause: new Error(cause) });
}
