/**
 * Handles webhook requests of the API server. The response is the decision of the user's function,
 * or an error status, for which the API server applies the failure policy. An error never allows a
 * request.
 *
 * Sources: `k8s.io/apiserver/pkg/admission/plugin/webhook` and
 * `k8s.io/apiextensions-apiserver/pkg/apiserver/conversion`.
 */
import type { Units } from "../../parts/units.ts";
import type { Webhook } from "../../parts/webhook.ts";
import { CONVERSION_PATH, webhookPath, type WebhookPhase } from "../../parts/webhook_entries.ts";
import { LogLimit } from "../log_limit.ts";
import type { Metrics, WebhookMetrics } from "../metrics.ts";
import { admit, WebhookFailure } from "./admit.ts";
import { BadReview } from "./bad_review.ts";
import { BodyReader, type ReadBody, rejectAsBusy, tooMuchMemory } from "./body.ts";
import { type Caller, type Exchange, LOCAL_CALLER } from "./caller.ts";
import { type Deadline, Deadlines, ReceiveDeadlines } from "./deadlines.ts";
import { FairShare } from "./fair_share.ts";
import { collectGarbage } from "./garbage.ts";
import { MAX_BYTES_PER_CHARACTER, parsedSize } from "./parsed_size.ts";
import { ReviewTimeout } from "./review_timeout.ts";
import { ConversionFailure, conversionRequest, Conversions, convertAll } from "./convert.ts";
import type { ReviewDependencies } from "./review_context.ts";
import type { ReviewThreads } from "./review_threads.ts";

/** Limits of a webhook server. */
export interface WebhookLimits {
  /**
   * Maximum number of reviews that are handled at once. Others wait; clients take turns. @default
   * {256}
   */
  readonly inFlight?: number;
  /**
   * Maximum length of an admission review, in bytes. The default fits two objects as large as the
   * API server accepts. @default {7 MiB}
   */
  readonly reviewBytes?: number;
  /**
   * Maximum length of a conversion review, in bytes. It may contain a whole list. @default {64 MiB}
   */
  readonly conversionBytes?: number;
  /**
   * Memory for reviews, in bytes. It is used for bodies while they are read, and for the parsed
   * objects while reviews are handled. Reviews wait for free memory; a review that needs more than
   * this is rejected.
   * @default {30 % of the container's memory limit, or of 256 MiB if there is none}
   */
  readonly memoryBytes?: number;
}

// Share of the container's memory. An operator without objects uses about 65 MiB, and connections
// about 20 MiB. Garbage also takes memory until it is collected.
const REVIEW_SHARE = 0.3;
// Shares of the memory for reviews: for bodies that are being read, and for bodies that wait. The
// rest is for reviews that are being handled.
const READING_SHARE = 0.2;
const WAITING_SHARE = 0.1;
// Memory for reviews of a test cluster, which has no memory limit, in bytes.
const UNLIMITED = 2 ** 40;

/** The memory limit that `op generate` writes, in bytes. */
export const DEFAULT_MEMORY = 256 * 2 ** 20;

/**
 * Returns the memory that reviews may use in a container, in bytes.
 *
 * @param memory The container's memory limit, in bytes.
 */
export function reviewMemoryWithin(memory: number): number {
  return Math.floor(memory * REVIEW_SHARE);
}

/** Options of {@linkcode WebhookHandler}. */
export interface WebhookHandlerOptions extends ReviewDependencies {
  /** The webhooks and conversions that are served. */
  readonly units: Pick<Units, "webhooks" | "conversions">;
  readonly metrics: Metrics;
  /** Aborted when the operator no longer waits for pending requests. */
  readonly signal: AbortSignal;
  /**
   * Requests wait until this promise resolves, such as when the operator's services are created.
   */
  readonly ready?: Promise<unknown>;
  readonly limits?: WebhookLimits;
  /** Threads that handle reviews. @default {this thread} */
  readonly threads?: ReviewThreads | undefined;
  /**
   * Whether requests come from a server, rather than from a test's cluster with a virtual clock.
   * @default {false}
   */
  readonly isServed?: boolean;
}

const MIB = 2 ** 20;
// A tenth of the API server's timeout, and at least 100 ms, is reserved for sending the response.
const TIMEOUT_SHARE = 0.9;
const TIMEOUT_MARGIN = 100;
// Deno 2.4 compresses every response if the client accepts it, as the API server does. That takes
// 10 to 20 % of a review's time, and responses are short.
const UNCOMPRESSED = { "cache-control": "no-transform" };
// Longest timeout of an API server, in seconds.
const MAX_TIMEOUT = 30;
// How long a body may take to arrive, in milliseconds. Time in which the event loop is blocked does
// not count. An API server sends the body at once.
const BODY_TIMEOUT = 5000;
// Number of copies of the parsed object, by kind of review. A validating function reads the object,
// a mutating one changes a copy, and a conversion creates another object and its text.
const COPIES = { validate: 1.3, mutate: 2, convert: 1.6 } as const;
// Number of bytes per character of the body, for the text (up to two bytes) and for the response.
const TEXT_BYTES = { validate: 2, mutate: 3, convert: 4 } as const;

/** Thrown when a function did not return in time, so the delay is not the client's fault. */
class LateResponse extends BadReview {
  override name = "LateResponse";
}

interface Route {
  readonly path: string;
  readonly metrics: WebhookMetrics;
  readonly kind: keyof typeof COPIES;
  /** Maximum length of the body, in bytes. */
  readonly maxLength: number;
  /** Timeout in seconds if the request has none. */
  readonly timeout: number;
  respond(text: string, reviewTimeout: ReviewTimeout): Promise<unknown> | unknown;
}

/** A request that is being handled. */
interface PendingRequest {
  readonly route: Route;
  readonly request: Request;
  readonly query: string;
  /** Address of the client. */
  readonly address: string;
  readonly exchange: Exchange;
}

/** Memory of a review that is being handled. */
interface ReviewMemory {
  readonly amount: number;
  readonly share: Disposable;
}

/** The progress of a review. */
interface Progress {
  /** Whether the user's function was called in this thread. */
  isFunctionCalled: boolean;
  memory?: ReviewMemory;
}

/** The content of a response. */
interface ResponseContent {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";
// Minimum size of reviews, in bytes, whose garbage is not freed by minor collections.
const LARGE = MIB;
// Share of the memory for reviews that may be garbage before it is collected.
const GARBAGE_SHARE = 0.25;
// A client may wait for this many times the memory for bodies. A waiting request takes almost no
// memory, because its body is still at the client.
const QUEUED_BODIES = 32;
// Memory of a waiting review in addition to its text, in bytes.
const OVERHEAD = 2048;

/** Handles webhook requests of the API server. */
export class WebhookHandler {
  /** Counter of requests that began or ended. */
  activity = 0;
  readonly #options: WebhookHandlerOptions;
  readonly #routes = new Map<string, Route>();
  readonly #bodies: BodyReader;
  /** Memory for bodies that are being read. */
  readonly #reading: FairShare;
  /** Memory for bodies that were read and wait for their turn. */
  readonly #waiting: FairShare;
  /** Memory for reviews that are being handled. */
  readonly #handling: FairShare;
  /** Memory of a small review. It is so large that at most `inFlight` reviews fit. */
  readonly #minAmount: number;
  /** Bytes that large reviews used since the last garbage collection. */
  #garbage = 0;
  readonly #deadlines: Deadlines;
  readonly #bodyDeadlines: ReceiveDeadlines;
  readonly #logLimit: LogLimit;
  #isReady = false;
  #inFlight = 0;

  /** @param options The webhooks, their dependencies, and limits. */
  constructor(options: WebhookHandlerOptions) {
    const { units, metrics, clock, signal, ready, isServed, limits = {} } = options;
    const {
      inFlight = 256,
      reviewBytes: review = 7 * MIB,
      conversionBytes: conversion = 64 * MIB,
      memoryBytes = isServed ? reviewMemoryWithin(DEFAULT_MEMORY) : UNLIMITED,
    } = limits;
    this.#options = options;
    const reading = Math.floor(memoryBytes * READING_SHARE);
    this.#reading = new FairShare({ total: reading, queue: QUEUED_BODIES * reading });
    this.#waiting = new FairShare({ total: Math.floor(memoryBytes * WAITING_SHARE) });
    // Its queue needs no limit, because the memory for waiting bodies limits it.
    this.#handling = new FairShare({
      total: memoryBytes - this.#reading.total - this.#waiting.total,
      queue: Infinity,
    });
    this.#minAmount = Math.floor(this.#handling.total / inFlight);
    this.#bodies = new BodyReader(this.#reading);
    this.#logLimit = new LogLimit({ clock });
    this.#deadlines = new Deadlines({ clock, keepsTimer: isServed });
    this.#bodyDeadlines = new ReceiveDeadlines({ clock, time: BODY_TIMEOUT, keepsTimer: isServed });
    Promise.resolve(ready).then(() => this.#isReady = true, () => {});
    signal.addEventListener("abort", () => {
      this.#deadlines[Symbol.dispose]();
      this.#bodyDeadlines[Symbol.dispose]();
    }, { once: true });
    for (const [part, webhook] of units.webhooks) {
      for (const phase of ["mutate", "validate"] as const) {
        if (webhook[phase] === undefined) continue;
        const path = webhookPath(phase, part);
        this.#routes.set(path, {
          path,
          metrics: metrics.webhook(path),
          kind: phase,
          maxLength: review,
          timeout: webhook.timeout,
          respond: (text, reviewTimeout) => this.#admit(part, webhook, phase, text, reviewTimeout),
        });
      }
    }
    const conversions = new Conversions([...units.conversions.values()]);
    if (!conversions.isEmpty) {
      this.#routes.set(CONVERSION_PATH, {
        path: CONVERSION_PATH,
        metrics: metrics.webhook(CONVERSION_PATH),
        kind: "convert",
        maxLength: conversion,
        timeout: MAX_TIMEOUT,
        respond: (text) => this.#convert(conversions, text),
      });
    }
  }

  /** Number of requests that are being handled. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Handles a request. It never rejects.
   *
   * @param request The request.
   * @param caller The connection of the request.
   */
  readonly fetch = async (request: Request, caller: Caller = LOCAL_CALLER): Promise<Response> => {
    const exchange = caller.began();
    const [path, query] = pathAndQuery(request.url);
    const route = this.#routes.get(path);
    if (route === undefined) return responseTo(exchange, errorResponse(404, `no webhook has the path ${path}`));
    const { clock, tracing } = this.#options;
    const began = clock.elapsed();
    this.#inFlight++;
    this.activity++;
    route.metrics.began();
    const pending = { route, request, query, address: caller.address, exchange };
    const content =
      await (tracing === undefined
        ? this.#respondOrError(pending)
        : tracing.review(path, () => this.#respondOrError(pending)));
    this.#inFlight--;
    this.activity++;
    route.metrics.ended(String(content.status), (clock.elapsed() - began) / 1000);
    return responseTo(exchange, content);
  };

  async #respondOrError(pending: PendingRequest): Promise<ResponseContent> {
    const report = this.#options.observe?.();
    try {
      return await this.#handle(pending);
    } catch (error) {
      if (error instanceof WebhookFailure) {
        const { keys: { webhook: part, kind, namespace, name }, cause } = error;
        report?.({ operation: "webhook", part, kind, namespace, name, error: cause });
      }
      return this.#errorResponse(error, pending.route);
    }
  }

  async #handle(pending: PendingRequest): Promise<ResponseContent> {
    const { request: { method, headers }, query, route } = pending;
    if (method !== "POST") throw new BadReview(405, `method ${method} is not allowed. Use POST`);
    const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type !== "application/json") {
      throw new BadReview(415, `content type "${type ?? ""}" is not supported. Use application/json`);
    }
    const timeout = responseTimeout(query, route.timeout);
    const reviewTimeout = new ReviewTimeout(this.#options.signal);
    const progress: Progress = { isFunctionCalled: false };
    const onLate = (): void => {
      const Late = progress.isFunctionCalled ? LateResponse : BadReview;
      reviewTimeout.end(new Late(504, `no response within ${timeout} ms`));
    };
    const deadline = this.#deadlines.after(timeout, onLate);
    const read = this.#read(pending, reviewTimeout, progress);
    // The function may continue after a timeout, so its memory is released when it returns.
    const release = (): void => this.#release(progress);
    read.then(release, release);
    try {
      return await reviewTimeout.race(read);
    } finally {
      this.#deadlines.cancel(deadline);
      reviewTimeout.release();
    }
  }

  async #read(pending: PendingRequest, reviewTimeout: ReviewTimeout, progress: Progress): Promise<ResponseContent> {
    if (!this.#isReady) await this.#options.ready;
    const { route, request: { url }, exchange } = pending;
    const body = await this.#body(pending, reviewTimeout);
    progress.memory = await this.#waitForMemory(pending, body, reviewTimeout);
    // The deadline may have passed while the review waited for its turn.
    reviewTimeout.check();
    exchange.handlingBegan();
    // With threads, the thread reports functions that are late.
    progress.isFunctionCalled = this.#options.threads === undefined;
    return await this.#respond(route, url, body.text, reviewTimeout);
  }

  async #body({ request, route, address, exchange }: PendingRequest, reviewTimeout: ReviewTimeout): Promise<ReadBody> {
    let deadline: Deadline | undefined;
    const onLate = (): void =>
      reviewTimeout.end(new BadReview(408, `the body did not arrive within ${BODY_TIMEOUT} ms`));
    const onTurn = (): void => void (deadline = this.#bodyDeadlines.start(onLate));
    try {
      return await this.#bodies.read(request, { maxLength: route.maxLength, address, exchange, reviewTimeout, onTurn });
    } finally {
      if (deadline !== undefined) this.#bodyDeadlines.cancel(deadline);
    }
  }

  /**
   * Waits until there is memory to handle a review. Until then, its text takes memory for
   * waiting bodies.
   */
  async #waitForMemory(
    { route, address }: PendingRequest,
    { text, share }: ReadBody,
    reviewTimeout: ReviewTimeout,
  ): Promise<ReviewMemory> {
    // The memory for reading is released when the review has memory of its own.
    using _read = share;
    const amount = this.#amountOf(route, text);
    if (amount > this.#handling.total) throw tooMuchMemory(amount, this.#handling.total);
    const granted = this.#handling.tryTake(address, amount);
    if (granted !== undefined) return { amount, share: granted };
    using _waiting = share ?? this.#waiting.tryTakePart(address, text.length + OVERHEAD) ?? rejectAsBusy();
    return { amount, share: await (this.#handling.take(address, amount, reviewTimeout.signal) ?? rejectAsBusy()) };
  }

  /**
   * Releases the memory of a review. Garbage of large reviews is collected first, because V8 may
   * wait for hundreds of MiB of it.
   */
  #release({ memory }: Progress): void {
    if (memory === undefined) return;
    if (memory.amount >= LARGE) this.#garbage += memory.amount;
    if (this.#garbage > this.#handling.total * GARBAGE_SHARE) {
      this.#garbage = 0;
      collectGarbage();
    }
    memory.share[Symbol.dispose]();
  }

  /** Returns the memory to handle a review. Text that is short enough is not examined. */
  #amountOf({ kind }: Route, text: string): number {
    const maximum = text.length * (TEXT_BYTES[kind] + COPIES[kind] * MAX_BYTES_PER_CHARACTER);
    if (maximum <= this.#minAmount) return this.#minAmount;
    return Math.max(this.#minAmount, Math.ceil(text.length * TEXT_BYTES[kind] + parsedSize(text) * COPIES[kind]));
  }

  async #respond(route: Route, url: string, text: string, reviewTimeout: ReviewTimeout): Promise<ResponseContent> {
    const { threads } = this.#options;
    if (threads === undefined) return json(await route.respond(text, reviewTimeout));
    const response = await threads.handle(url, text, reviewTimeout);
    if (response.status === 500) route.metrics.panic();
    const type = response.status === 200 ? JSON_TYPE : TEXT_TYPE;
    return { status: response.status, text: response.text, headers: { "content-type": type, ...UNCOMPRESSED } };
  }

  async #admit(part: string, webhook: Webhook, phase: WebhookPhase, text: string, reviewTimeout: ReviewTimeout) {
    const response = await admit(webhook, parseJson(text), { part, phase, reviewTimeout }, this.#options);
    this.#options.tracing?.addReviewAttributes({ "op.review.allowed": response.allowed });
    return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
  }

  #convert(conversions: Conversions, text: string): unknown {
    const review = parseJson(text);
    const type = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
    try {
      return { ...type, response: convertAll(conversions, review) };
    } catch (error) {
      if (!(error instanceof ConversionFailure)) throw error;
      this.#options.metrics.conversionPanic();
      this.#options.observe?.()({ operation: "conversion", error });
      const { uid } = conversionRequest(review);
      const { tracing } = this.#options;
      const fields = { uid, error: error.message, ...stackField(error.cause), ...tracing?.reviewLogFields() };
      this.#logLimited("error", "Conversion failed", CONVERSION_PATH, fields);
      tracing?.failReview(error);
      const result = { status: "Failure", message: error.message };
      return { ...type, response: { uid, convertedObjects: [], result } };
    }
  }

  /**
   * Returns the response for an error. Errors of user code are logged, and not part of the
   * response.
   */
  #errorResponse(error: unknown, { metrics, path }: Route): ResponseContent {
    const { log, tracing } = this.#options;
    if (error instanceof BadReview) {
      const fields = { path, status: error.status, error: error.message };
      // Other invalid requests are logged at debug level, because the operator does not cause them
      // and they may be frequent.
      if (error instanceof LateResponse) this.#logLimited("warn", "Webhook timed out", path, fields);
      else log.debug("Webhook request rejected", fields);
      return errorResponse(error.status, error.message);
    }
    if (error instanceof WebhookFailure) {
      metrics.panic();
      tracing?.failReview(error);
      const { uid, keys, message, cause } = error;
      const fields = { ...keys, error: message, ...stackField(cause), ...tracing?.reviewLogFields() };
      this.#logLimited("error", "Webhook failed", path, fields);
      return errorResponse(500, `the webhook failed. The operator's log has the error under uid ${uid}`);
    }
    // For example, the client closed the connection, or the JSON is nested too deeply.
    const fields = { path, error: error instanceof Error ? error.message : String(error) };
    this.#logLimited("warn", "Webhook request unreadable", path, fields);
    return errorResponse(400, "the request cannot be read");
  }

  /**
   * Logs at a limited rate per webhook and message, because any client can cause these lines.
   * Metrics count all of them.
   */
  #logLimited(level: "warn" | "error", message: string, path: string, fields: Readonly<Record<string, unknown>>): void {
    const limited = this.#logLimit.next(`${message} ${path}`);
    if (limited !== undefined) this.#options.log[level](message, { ...fields, ...limited });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadReview(400, "the body is not JSON");
  }
}

/**
 * Returns the path and the query of a request's URL, which has a host and no fragment. Parsing the
 * whole URL takes longer than reading the review.
 */
function pathAndQuery(url: string): [path: string, query: string] {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", path);
  return query === -1 ? [url.slice(path), ""] : [url.slice(path, query), url.slice(query)];
}

/**
 * Returns how long the response may take, in milliseconds.
 *
 * @param query Query of the URL, in which the API server sends its timeout.
 * @param defaultSeconds Timeout in seconds if the query has none.
 */
function responseTimeout(query: string, defaultSeconds: number): number {
  const timeout = /[?&]timeout=(\d{1,4})s(?:&|$)/.exec(query)?.[1];
  const seconds = Math.min(timeout === undefined ? defaultSeconds : Math.max(1, Number(timeout)), MAX_TIMEOUT);
  return Math.min(seconds * 1000 * TIMEOUT_SHARE, seconds * 1000 - TIMEOUT_MARGIN);
}

function json(body: unknown): ResponseContent {
  return { status: 200, text: JSON.stringify(body), headers: { "content-type": JSON_TYPE, ...UNCOMPRESSED } };
}

/**
 * Returns a plain-text response. The API server quotes it in its own response. After a 429, the API
 * server tries again within its timeout.
 */
function errorResponse(status: number, message: string): ResponseContent {
  return {
    status,
    text: message,
    headers: {
      "content-type": TEXT_TYPE,
      ...(status === 429 ? { "retry-after": "1" } : {}),
      ...(status === 405 ? { allow: "POST" } : {}),
      // The connection cannot be used again before the rest of the body has arrived.
      ...(status === 408 ? { connection: "close" } : {}),
    },
  };
}

function responseTo(exchange: Exchange, { status, text, headers }: ResponseContent): Response {
  exchange.ended(text.length);
  return new Response(text, { status, headers });
}

function stackField(cause: unknown): { readonly stack?: string } {
  return cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {};
}
