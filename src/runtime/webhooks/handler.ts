/**
 * Answers webhook requests of the API server. The response is the decision of the user's function,
 * or an error status, for which the API server applies the failure policy. No request is allowed
 * because of an error.
 *
 * Sources: `k8s.io/apiserver/pkg/admission/plugin/webhook` and
 * `k8s.io/apiextensions-apiserver/pkg/apiserver/conversion`.
 */
import { conversionsOf, type Parts, webhooksOf } from "../../parts/part_list.ts";
import type { Webhook } from "../../parts/webhook.ts";
import { CONVERSION_PATH, webhookPath, type WebhookPhase } from "../../parts/webhook_entries.ts";
import { LogLimit } from "../log_limit.ts";
import type { Metrics, WebhookMetrics } from "../metrics.ts";
import { admit, WebhookFailure } from "./admit.ts";
import { BadReview } from "./bad_review.ts";
import { BodyReader, type ReadBody, tooBusy, tooMuch } from "./body.ts";
import { type Caller, type Exchange, LOCAL_CALLER } from "./caller.ts";
import { Deadlines } from "./deadlines.ts";
import { FairShare } from "./fair_share.ts";
import { collectGarbage } from "./garbage.ts";
import { HEAVIEST, parsedSize } from "./parsed_size.ts";
import { ReviewTimeout } from "./review_timeout.ts";
import { ConversionFailure, conversionRequest, Conversions, convertAll } from "./convert.ts";
import { type ReceiveDeadline, ReceiveDeadlines } from "./receive_deadlines.ts";
import type { Surroundings } from "./review_context.ts";
import type { ReviewThreads } from "./review_threads.ts";

/** Limits of a webhook server. */
export interface WebhookLimits {
  /**
   * Maximum number of reviews that are answered at once. Others wait in turns by client. @default
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
   * Memory for reviews, in bytes: for bodies while they are read, and for the objects in them while
   * they are answered. Reviews wait for memory; one that needs more than this is rejected.
   * @default {30 % of the container's memory limit, or of 256 MiB if there is none}
   */
  readonly memoryBytes?: number;
}

// An operator without objects uses about 65 MiB, and connections about 20 MiB. Garbage takes memory
// too until it is collected.
const HELD_SHARE = 0.3;
// Shares of that for bodies that are being read, and for bodies that wait. The rest is for reviews
// that are being answered.
const READING_SHARE = 0.2;
const WAITING_SHARE = 0.1;
// Memory limit of a cluster in the test's own process: none.
const UNLIMITED = 2 ** 40;

/** The memory limit that `op generate` writes, in bytes. */
export const USUAL_MEMORY = 256 * 2 ** 20;

/**
 * Returns the memory that reviews may use in a container, in bytes.
 *
 * @param memory The container's memory limit, in bytes.
 */
export function heldWithin(memory: number): number {
  return Math.floor(memory * HELD_SHARE);
}

/** Options of {@linkcode WebhookHandler}. */
export interface WebhookHandlerOptions extends Surroundings {
  readonly parts: Parts;
  readonly metrics: Metrics;
  /** Aborted when the operator no longer waits for pending requests. */
  readonly signal: AbortSignal;
  /** Requests wait for this promise, such as for services that are being created. */
  readonly ready?: Promise<unknown>;
  readonly limits?: WebhookLimits;
  /** Threads that answer reviews; by default, this thread does. */
  readonly threads?: ReviewThreads | undefined;
  /**
   * Whether requests come from a server, rather than from a test's cluster with a virtual clock.
   * @default {false}
   */
  readonly isServed?: boolean;
}

const MIB = 2 ** 20;
// A tenth of the API server's timeout, and at least 100 ms, is left for the response to travel.
const SHARE = 0.9;
const MARGIN = 100;
// Deno 2.4 compresses every response if the client accepts it, as the API server does. That takes
// 10 to 20 % of a review's time, and responses are short.
const UNCOMPRESSED = { "cache-control": "no-transform" };
// Longest timeout of an API server, in seconds.
const LONGEST = 30;
// How long a body may take to arrive, in milliseconds in which it could be read. An API server
// sends it at once.
const BODY_TIME = 5000;
// Number of copies of the parsed object, by kind of review: a validating function reads it, a
// mutating one changes a copy, and a conversion creates another object and its text.
const COPIES = { validate: 1.3, mutate: 2, convert: 1.6 } as const;
// Number of bytes per character of the body: for the text, which takes two, and the response.
const TEXTS = { validate: 2, mutate: 3, convert: 4 } as const;

/** Thrown when the function did not return in time, although the whole request had arrived. */
class LateAnswer extends BadReview {
  override name = "LateAnswer";
}

interface Route {
  readonly path: string;
  readonly metrics: WebhookMetrics;
  readonly kind: keyof typeof COPIES;
  readonly longest: number;
  /** Timeout in seconds if the request has none. */
  readonly timeout: number;
  answer(text: string, reviewTimeout: ReviewTimeout): Promise<unknown> | unknown;
}

/** A request that is being answered. */
interface PendingRequest {
  readonly route: Route;
  readonly request: Request;
  readonly query: string;
  /** Address of the client. */
  readonly address: string;
  readonly exchange: Exchange;
}

/** Memory of a review that is being answered. */
interface ReviewMemory {
  readonly amount: number;
  readonly share: Disposable;
}

/** How far a review is. */
interface Progress {
  /** Whether its function was called. */
  isCalled: boolean;
  memory?: ReviewMemory;
}

/** The content of a response. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";
// Size of reviews, in bytes, whose garbage minor collections do not free.
const LARGE = MIB;
// Share of the memory for reviews that may be garbage.
const GARBAGE_SHARE = 0.25;
// How many times the memory for bodies one client may wait for. Waiting takes almost no memory,
// because the client holds the body.
const QUEUED_BODIES = 32;
// Memory of a waiting review in addition to its text, in bytes.
const OVERHEAD = 2048;

/** Answers webhook requests of the API server. */
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
  /** Memory for reviews that are being answered. */
  readonly #answering: FairShare;
  /** Minimum memory of a review, so that there are never more than `inFlight`. */
  readonly #least: number;
  /** Bytes that large reviews used since the last garbage collection. */
  #garbage = 0;
  readonly #deadlines: Deadlines;
  readonly #bodyDeadlines: ReceiveDeadlines;
  readonly #logLimit: LogLimit;
  #isReady = false;
  #inFlight = 0;

  /** @param options The webhooks, limits, and what webhooks use. */
  constructor(options: WebhookHandlerOptions) {
    const { parts, metrics, clock, signal, ready, isServed, limits = {} } = options;
    const {
      inFlight = 256,
      reviewBytes: review = 7 * MIB,
      conversionBytes: conversion = 64 * MIB,
      memoryBytes: held = isServed ? heldWithin(USUAL_MEMORY) : UNLIMITED,
    } = limits;
    this.#options = options;
    const reading = Math.floor(held * READING_SHARE);
    this.#reading = new FairShare({ total: reading, queue: QUEUED_BODIES * reading });
    this.#waiting = new FairShare({ total: Math.floor(held * WAITING_SHARE) });
    // The memory for waiting bodies limits this queue.
    this.#answering = new FairShare({ total: held - this.#reading.total - this.#waiting.total, queue: Infinity });
    this.#least = Math.floor(this.#answering.total / inFlight);
    this.#bodies = new BodyReader(this.#reading);
    this.#logLimit = new LogLimit({ clock });
    this.#deadlines = new Deadlines({ clock, lingers: isServed });
    this.#bodyDeadlines = new ReceiveDeadlines({ clock, time: BODY_TIME, lingers: isServed });
    Promise.resolve(ready).then(() => this.#isReady = true, () => {});
    signal.addEventListener("abort", () => {
      this.#deadlines[Symbol.dispose]();
      this.#bodyDeadlines[Symbol.dispose]();
    }, { once: true });
    for (const [part, webhook] of webhooksOf(parts)) {
      for (const phase of ["mutate", "validate"] as const) {
        if (webhook[phase] === undefined) continue;
        const path = webhookPath(phase, part);
        this.#routes.set(path, {
          path,
          metrics: metrics.webhook(path),
          kind: phase,
          longest: review,
          timeout: webhook.timeout,
          answer: (text, reviewTimeout) => this.#admit(part, webhook, phase, text, reviewTimeout),
        });
      }
    }
    const conversions = new Conversions(conversionsOf(parts).map(([, part]) => part));
    if (!conversions.isEmpty) {
      this.#routes.set(CONVERSION_PATH, {
        path: CONVERSION_PATH,
        metrics: metrics.webhook(CONVERSION_PATH),
        kind: "convert",
        longest: conversion,
        timeout: LONGEST,
        answer: (text) => this.#convert(conversions, text),
      });
    }
  }

  /** Number of requests that are being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Answers a request. It never rejects.
   *
   * @param request The request.
   * @param caller The connection of the request.
   */
  readonly fetch = async (request: Request, caller: Caller = LOCAL_CALLER): Promise<Response> => {
    const exchange = caller.began();
    const [path, query] = pathAndQuery(request.url);
    const route = this.#routes.get(path);
    if (route === undefined) return responseTo(exchange, refusal(404, `no webhook has the path ${path}`));
    const { clock, tracing } = this.#options;
    const began = clock.elapsed();
    this.#inFlight++;
    this.activity++;
    route.metrics.began();
    const pending = { route, request, query, address: caller.address, exchange };
    const answer =
      await (tracing === undefined ? this.#settled(pending) : tracing.review(path, () => this.#settled(pending)));
    this.#inFlight--;
    this.activity++;
    route.metrics.ended(String(answer.status), (clock.elapsed() - began) / 1000);
    return responseTo(exchange, answer);
  };

  async #settled(pending: PendingRequest): Promise<Answer> {
    const failed = this.#options.observe?.();
    try {
      return await this.#answer(pending);
    } catch (error) {
      if (error instanceof WebhookFailure) {
        const { keys: { webhook: part, kind, namespace, name }, cause } = error;
        failed?.({ operation: "webhook", part, kind, namespace, name, error: cause });
      }
      return this.#failed(error, pending.route);
    }
  }

  async #answer(pending: PendingRequest): Promise<Answer> {
    const { request: { method, headers }, query, route } = pending;
    if (method !== "POST") throw new BadReview(405, `method ${method} is not allowed. Use POST`);
    const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type !== "application/json") {
      throw new BadReview(415, `content type "${type ?? ""}" is not supported. Use application/json`);
    }
    const longest = serverTimeoutOf(query, route.timeout);
    const reviewTimeout = new ReviewTimeout(this.#options.signal);
    const progress: Progress = { isCalled: false };
    const late = (): void => {
      const Late = progress.isCalled ? LateAnswer : BadReview;
      reviewTimeout.end(new Late(504, `no answer within ${longest} ms`));
    };
    const deadline = this.#deadlines.after(longest, late);
    const read = this.#read(pending, reviewTimeout, progress);
    // The function may run on after the answer, so its memory is released when it has ended.
    const release = (): void => this.#release(progress);
    read.then(release, release);
    try {
      return await reviewTimeout.race(read);
    } finally {
      this.#deadlines.forget(deadline);
      reviewTimeout.release();
    }
  }

  async #read(pending: PendingRequest, reviewTimeout: ReviewTimeout, progress: Progress): Promise<Answer> {
    if (!this.#isReady) await this.#options.ready;
    const { route, request: { url }, exchange } = pending;
    const body = await this.#body(pending, reviewTimeout);
    progress.memory = await this.#turn(pending, body, reviewTimeout);
    // The deadline may have passed while the review waited for its turn.
    reviewTimeout.check();
    exchange.answerBegan();
    // With threads, the thread reports late functions.
    progress.isCalled = this.#options.threads === undefined;
    return await this.#respond(route, url, body.text, reviewTimeout);
  }

  async #body({ request, route, address, exchange }: PendingRequest, reviewTimeout: ReviewTimeout): Promise<ReadBody> {
    let deadline: ReceiveDeadline | undefined;
    const late = (): void => reviewTimeout.end(new BadReview(408, `the body did not arrive within ${BODY_TIME} ms`));
    const onTurn = (): void => void (deadline = this.#bodyDeadlines.start(late));
    try {
      return await this.#bodies.read(request, { longest: route.longest, address, exchange, reviewTimeout, onTurn });
    } finally {
      if (deadline !== undefined) this.#bodyDeadlines.forget(deadline);
    }
  }

  /**
   * Waits until there is memory for a review. Meanwhile its text takes memory for waiting bodies.
   */
  async #turn(
    { route, address }: PendingRequest,
    { text, share }: ReadBody,
    reviewTimeout: ReviewTimeout,
  ): Promise<ReviewMemory> {
    // The text counts as being read until the review has memory of its own.
    using _read = share;
    const amount = this.#amountOf(route, text);
    if (amount > this.#answering.total) throw tooMuch(amount, this.#answering.total);
    const given = this.#answering.tryTake(address, amount);
    if (given !== undefined) return { amount, share: given };
    using _waiting = share ?? this.#waiting.tryTakePart(address, text.length + OVERHEAD) ?? refuse();
    return { amount, share: await (this.#answering.take(address, amount, reviewTimeout.signal) ?? refuse()) };
  }

  /**
   * Releases the memory of a review. Garbage of large reviews is collected first, because V8 may
   * wait for hundreds of MiB of it.
   */
  #release({ memory }: Progress): void {
    if (memory === undefined) return;
    if (memory.amount >= LARGE) this.#garbage += memory.amount;
    if (this.#garbage > this.#answering.total * GARBAGE_SHARE) {
      this.#garbage = 0;
      collectGarbage();
    }
    memory.share[Symbol.dispose]();
  }

  /** Returns the memory for answering a review. Small reviews are not examined. */
  #amountOf({ kind }: Route, text: string): number {
    const most = text.length * (TEXTS[kind] + COPIES[kind] * HEAVIEST);
    if (most <= this.#least) return this.#least;
    return Math.max(this.#least, Math.ceil(text.length * TEXTS[kind] + parsedSize(text) * COPIES[kind]));
  }

  async #respond(route: Route, url: string, text: string, reviewTimeout: ReviewTimeout): Promise<Answer> {
    const { threads } = this.#options;
    if (threads === undefined) return json(await route.answer(text, reviewTimeout));
    const answer = await threads.ask(url, text, reviewTimeout);
    if (answer.status === 500) route.metrics.panic();
    const type = answer.status === 200 ? JSON_TYPE : TEXT_TYPE;
    return { status: answer.status, text: answer.text, headers: { "content-type": type, ...UNCOMPRESSED } };
  }

  async #admit(part: string, webhook: Webhook, phase: WebhookPhase, text: string, reviewTimeout: ReviewTimeout) {
    const response = await admit(webhook, parsed(text), { part, phase, reviewTimeout }, this.#options);
    this.#options.tracing?.addReviewAttributes({ "op.review.allowed": response.allowed });
    return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
  }

  #convert(conversions: Conversions, text: string): unknown {
    const review = parsed(text);
    const type = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" };
    try {
      return { ...type, response: convertAll(conversions, review) };
    } catch (error) {
      if (!(error instanceof ConversionFailure)) throw error;
      this.#options.metrics.conversionPanic();
      this.#options.observe?.()({ operation: "conversion", error });
      const { uid } = conversionRequest(review);
      const { tracing } = this.#options;
      const fields = { uid, error: error.message, ...stackOf(error.cause), ...tracing?.reviewLogFields() };
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
  #failed(error: unknown, { metrics, path }: Route): Answer {
    const { log, tracing } = this.#options;
    if (error instanceof BadReview) {
      const fields = { path, status: error.status, error: error.message };
      // Invalid requests are not the operator's fault, and may be frequent.
      if (error instanceof LateAnswer) this.#logLimited("warn", "Webhook timed out", path, fields);
      else log.debug("Webhook request rejected", fields);
      return refusal(error.status, error.message);
    }
    if (error instanceof WebhookFailure) {
      metrics.panic();
      tracing?.failReview(error);
      const { uid, keys, message, cause } = error;
      const fields = { ...keys, error: message, ...stackOf(cause), ...tracing?.reviewLogFields() };
      this.#logLimited("error", "Webhook failed", path, fields);
      return refusal(500, `the webhook failed. The operator's log has the error under uid ${uid}`);
    }
    // For example a body that broke off, or JSON that is nested too deeply.
    const fields = { path, error: error instanceof Error ? error.message : String(error) };
    this.#logLimited("warn", "Webhook request unreadable", path, fields);
    return refusal(400, "the request cannot be read");
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

function parsed(text: string): unknown {
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
 * Returns how long the answer may take, in milliseconds. The API server sends its timeout in the
 * URL.
 */
function serverTimeoutOf(query: string, usual: number): number {
  const timeout = /[?&]timeout=(\d{1,4})s(?:&|$)/.exec(query)?.[1];
  const seconds = Math.min(timeout === undefined ? usual : Math.max(1, Number(timeout)), LONGEST);
  return Math.min(seconds * 1000 * SHARE, seconds * 1000 - MARGIN);
}

function json(body: unknown): Answer {
  return { status: 200, text: JSON.stringify(body), headers: { "content-type": JSON_TYPE, ...UNCOMPRESSED } };
}

/**
 * Returns a plain-text response, which the API server quotes in its own. After a 429, it tries
 * again within its timeout.
 */
function refusal(status: number, message: string): Answer {
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

function responseTo(exchange: Exchange, { status, text, headers }: Answer): Response {
  exchange.ended(text.length);
  return new Response(text, { status, headers });
}

function refuse(): never {
  throw tooBusy();
}

function stackOf(cause: unknown): { readonly stack?: string } {
  return cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {};
}
