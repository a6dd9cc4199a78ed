/**
 * Answers the API server's calls: `(Request) => Promise<Response>`. Whatever comes, the answer is a verdict of the user's function, or a status that the
 * API server takes for a failed call, upon which it does as the failure policy says. Nothing is allowed because something went wrong.
 *
 * Source: `k8s.io/apiserver/pkg/admission/plugin/webhook` and `k8s.io/apiextensions-apiserver/pkg/apiserver/conversion` for what is called how.
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
import { type Deadline, Deadlines } from "./deadlines.ts";
import { FairShare } from "./fair_share.ts";
import { collectGarbage } from "./garbage.ts";
import { HEAVIEST, parsedSize } from "./parsed_size.ts";
import { Patience } from "./patience.ts";
import { ConversionFailure, conversionRequest, Conversions, convertAll } from "./convert.ts";
import type { Surroundings } from "./review_context.ts";
import type { ReviewThreads } from "./review_threads.ts";

/** How much a webhook server accepts. */
export interface WebhookLimits {
  /** Reviews that are answered at once. The others wait for their turn, by fair shares of the clients' addresses. @default {256} */
  readonly inFlight?: number;
  /** Longest body of an admission review, in bytes. @default {7 MiB: two objects as large as the API server accepts} */
  readonly review?: number;
  /** Longest body of a conversion review, in bytes: it may be about a whole list. @default {64 MiB} */
  readonly conversion?: number;
  /**
   * Memory that reviews may take at once, in bytes: bodies while they are read, and the objects in them while they are answered. Reviews wait for it; one that
   * would take more alone is rejected. @default {30 % of the container's memory limit; of 256 MiB where there is none}
   */
  readonly held?: number;
}

// An operator without objects takes some 65 MiB and connections some 20, and memory that is not used any more is not collected at once.
const HELD_SHARE = 0.3;
// Of that, what bodies may take while they are read, and those that were read while they wait. The rest is for reviews that are being answered.
const READING_SHARE = 0.2;
const WAITING_SHARE = 0.1;
// A cluster in the test's own process has no limit.
const UNLIMITED = 2 ** 40;

/** Bytes of an operator's memory limit, as `op generate` writes it. */
export const USUAL_MEMORY = 256 * 2 ** 20;

/**
 * Returns the memory that reviews may take in a container.
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
  /** Aborted when the operator has stopped waiting for what goes on. */
  readonly signal: AbortSignal;
  /** What is called waits for it: services that are being made. @default {nothing} */
  readonly ready?: Promise<unknown>;
  readonly limits?: WebhookLimits;
  /** Threads that answer in its place. */
  readonly threads?: ReviewThreads | undefined;
  /** Whether it answers a server's requests, and not a cluster's whose clock a test moves. @default {false} */
  readonly isServed?: boolean;
}

const MIB = 2 ** 20;
// What is left of the API server's time for the way back: a tenth, 100 ms at least.
const SHARE = 0.9;
const MARGIN = 100;
// Deno 2.4 packs every answer for whoever takes packed ones, as the API server does: a tenth to a fifth of a review's time, and a verdict is short.
const AS_IT_IS = { "cache-control": "no-transform" };
// The most that an API server waits for.
const LONGEST = 30;
// An API server sends a body at once: whoever takes longer is not one, or its network is too slow for its timeouts.
const BODY_TIME = 5000;
// Of a parsed object, for each kind of review: a validating function reads it, a mutating one works on a copy, a conversion makes another and its text.
const COPIES = { validate: 1.3, mutate: 2, convert: 1.6 } as const;
// Of a body's text: the text itself, with two bytes for each character, and what is answered.
const TEXTS = { validate: 2, mutate: 3, convert: 4 } as const;

/** The whole request was there, and its function did not answer in time. */
class LateAnswer extends BadReview {
  override name = "LateAnswer";
}

interface Route {
  readonly path: string;
  readonly metrics: WebhookMetrics;
  readonly kind: keyof typeof COPIES;
  readonly longest: number;
  /** Seconds, where the request does not say. */
  readonly timeout: number;
  answer(text: string, patience: Patience): Promise<unknown> | unknown;
}

/** A request that is being answered. */
interface Asked {
  readonly route: Route;
  readonly request: Request;
  readonly query: string;
  /** Address of the client. */
  readonly address: string;
  readonly exchange: Exchange;
}

/** Memory that a review has while it is answered. */
interface ReviewMemory {
  readonly amount: number;
  readonly share: Disposable;
}

/** How far a review is. */
interface Progress {
  /** Whether its function was called. */
  isAsked: boolean;
  memory?: ReviewMemory;
}

/** A response, before it is one. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";
// Reviews that are smaller than this leave nothing behind that young collections do not find.
const LARGE = MIB;
// Of the memory for reviews, what may be garbage.
const GARBAGE_SHARE = 0.25;
// A body that waits to be read takes next to nothing: the client holds it.
const QUEUED_BODIES = 32;
// What a review that waits takes besides its text.
const OVERHEAD = 2048;

/** Answers the API server's calls. */
export class WebhookHandler {
  /** Grows with each request that begins or ends. */
  activity = 0;
  readonly #options: WebhookHandlerOptions;
  readonly #routes = new Map<string, Route>();
  readonly #bodies: BodyReader;
  /** Memory for bodies that are being read. */
  readonly #reading: FairShare;
  /** Memory for bodies that were read, and wait for an answer. */
  readonly #waiting: FairShare;
  /** Memory for reviews that are being answered. */
  readonly #answering: FairShare;
  /** What the smallest review takes of it: so there are never more than `inFlight`. */
  readonly #least: number;
  /** Bytes that large reviews took since garbage was collected last. */
  #garbage = 0;
  readonly #deadlines: Deadlines;
  readonly #logLimit: LogLimit;
  #isReady = false;
  #inFlight = 0;

  constructor(options: WebhookHandlerOptions) {
    const { parts, metrics, clock, signal, ready, isServed, limits = {} } = options;
    const {
      inFlight = 256,
      review = 7 * MIB,
      conversion = 64 * MIB,
      held = isServed ? heldWithin(USUAL_MEMORY) : UNLIMITED,
    } = limits;
    this.#options = options;
    const reading = Math.floor(held * READING_SHARE);
    this.#reading = new FairShare({ total: reading, queue: QUEUED_BODIES * reading });
    this.#waiting = new FairShare({ total: Math.floor(held * WAITING_SHARE) });
    // Who waits for it is limited by the memory for that.
    this.#answering = new FairShare({ total: held - this.#reading.total - this.#waiting.total, queue: Infinity });
    this.#least = Math.floor(this.#answering.total / inFlight);
    this.#bodies = new BodyReader(this.#reading);
    this.#logLimit = new LogLimit({ clock });
    this.#deadlines = new Deadlines({ clock, lingers: isServed });
    Promise.resolve(ready).then(() => this.#isReady = true, () => {});
    signal.addEventListener("abort", () => this.#deadlines[Symbol.dispose](), { once: true });
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
          answer: (text, patience) => this.#admit(part, webhook, phase, text, patience),
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

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /**
   * Answers a request. It never rejects.
   *
   * @param request The request.
   * @param caller The connection that it came by.
   */
  readonly fetch = async (request: Request, caller: Caller = LOCAL_CALLER): Promise<Response> => {
    const exchange = caller.began();
    const [path, query] = pathAndQuery(request.url);
    const route = this.#routes.get(path);
    if (route === undefined) return responseTo(exchange, refusal(404, `there is no webhook at ${path}`));
    const { clock, tracing } = this.#options;
    const began = clock.elapsed();
    this.#inFlight++;
    this.activity++;
    route.metrics.began();
    const asked = { route, request, query, address: caller.address, exchange };
    const answer =
      await (tracing === undefined ? this.#settled(asked) : tracing.review(path, () => this.#settled(asked)));
    this.#inFlight--;
    this.activity++;
    route.metrics.ended(String(answer.status), (clock.elapsed() - began) / 1000);
    return responseTo(exchange, answer);
  };

  async #settled(asked: Asked): Promise<Answer> {
    const failed = this.#options.observe?.();
    try {
      return await this.#answer(asked);
    } catch (error) {
      if (error instanceof WebhookFailure) {
        const { keys: { webhook: part, kind, namespace, name }, cause } = error;
        failed?.({ what: "webhook", part, kind, namespace, name, error: cause });
      }
      return this.#failed(error, asked.route);
    }
  }

  async #answer(asked: Asked): Promise<Answer> {
    const { request: { method, headers }, query, route } = asked;
    if (method !== "POST") throw new BadReview(405, "only POST is answered here");
    const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type !== "application/json") throw new BadReview(415, 'only "application/json" is read here');
    const longest = patienceOf(query, route.timeout);
    const patience = new Patience(this.#options.signal);
    const progress: Progress = { isAsked: false };
    const late = (): void => {
      const Late = progress.isAsked ? LateAnswer : BadReview;
      patience.end(new Late(504, `no answer within ${longest} ms`));
    };
    const deadline = this.#deadlines.after(longest, late);
    const read = this.#read(asked, patience, progress);
    // What it held can be collected only after it has ended, which may be later than its answer.
    const release = (): void => this.#release(progress);
    read.then(release, release);
    try {
      return await patience.orEnd(read);
    } finally {
      this.#deadlines.forget(deadline);
      patience.release();
    }
  }

  async #read(asked: Asked, patience: Patience, progress: Progress): Promise<Answer> {
    if (!this.#isReady) await this.#options.ready;
    const { route, request: { url }, exchange } = asked;
    const body = await this.#body(asked, patience);
    progress.memory = await this.#turn(asked, body, patience);
    // Whoever waited for its turn may have been given up meanwhile.
    patience.check();
    exchange.answerBegan();
    // A thread reports that of its own.
    progress.isAsked = this.#options.threads === undefined;
    return await this.#pass(route, url, body.text, patience);
  }

  async #body({ request, route, address, exchange }: Asked, patience: Patience): Promise<ReadBody> {
    let deadline: Deadline | undefined;
    const late = (): void => patience.end(new BadReview(408, `the body did not arrive within ${BODY_TIME} ms`));
    const onTurn = (): void => void (deadline = this.#deadlines.after(BODY_TIME, late));
    try {
      return await this.#bodies.read(request, { longest: route.longest, address, exchange, patience, onTurn });
    } finally {
      if (deadline !== undefined) this.#deadlines.forget(deadline);
    }
  }

  /** Waits until there is memory for a review, as long as its text alone can be held. */
  async #turn({ route, address }: Asked, { text, share }: ReadBody, patience: Patience): Promise<ReviewMemory> {
    // What was read stays counted until the review has memory of its own.
    using _read = share;
    const amount = this.#amountOf(route, text);
    if (amount > this.#answering.total) throw tooMuch(amount, this.#answering.total);
    const given = this.#answering.tryTake(address, amount);
    if (given !== undefined) return { amount, share: given };
    using _waiting = share ?? this.#waiting.tryTakePart(address, text.length + OVERHEAD) ?? refuse();
    return { amount, share: await (this.#answering.take(address, amount, patience.signal) ?? refuse()) };
  }

  /** Returns the memory of a review. What large reviews leave is collected before others get it: V8 itself may wait for hundreds of MiB. */
  #release({ memory }: Progress): void {
    if (memory === undefined) return;
    if (memory.amount >= LARGE) this.#garbage += memory.amount;
    if (this.#garbage > this.#answering.total * GARBAGE_SHARE) {
      this.#garbage = 0;
      collectGarbage();
    }
    memory.share[Symbol.dispose]();
  }

  /** How much memory answering a review takes. Small ones are not looked at closely. */
  #amountOf({ kind }: Route, text: string): number {
    const most = text.length * (TEXTS[kind] + COPIES[kind] * HEAVIEST);
    if (most <= this.#least) return this.#least;
    return Math.max(this.#least, Math.ceil(text.length * TEXTS[kind] + parsedSize(text) * COPIES[kind]));
  }

  async #pass(route: Route, url: string, text: string, patience: Patience): Promise<Answer> {
    const { threads } = this.#options;
    if (threads === undefined) return json(await route.answer(text, patience));
    const answer = await threads.ask(url, text, patience);
    if (answer.status === 500) route.metrics.panic();
    const type = answer.status === 200 ? JSON_TYPE : TEXT_TYPE;
    return { status: answer.status, text: answer.text, headers: { "content-type": type, ...AS_IT_IS } };
  }

  async #admit(part: string, webhook: Webhook, phase: WebhookPhase, text: string, patience: Patience) {
    const response = await admit(webhook, parsed(text), { part, phase, patience }, this.#options);
    this.#options.tracing?.tellOfReview({ "op.review.allowed": response.allowed });
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
      this.#options.observe?.()({ what: "conversion", error });
      const { uid } = conversionRequest(review);
      const { tracing } = this.#options;
      const fields = { uid, error: error.message, ...stackOf(error.cause), ...tracing?.reviewLogFields() };
      this.#logLimited("error", "Conversion failed", CONVERSION_PATH, fields);
      tracing?.failReview(error);
      const result = { status: "Failure", message: error.message };
      return { ...type, response: { uid, convertedObjects: [], result } };
    }
  }

  /** What went wrong, as a status. What the user's code said is in the log, and not in the answer. */
  #failed(error: unknown, { metrics, path }: Route): Answer {
    const { log, tracing } = this.#options;
    if (error instanceof BadReview) {
      const told = { path, status: error.status, error: error.message };
      // What is no review is somebody else's fault, and may come often.
      if (error instanceof LateAnswer) this.#logLimited("warn", "Webhook request not answered", path, told);
      else log.debug("Webhook request not answered", told);
      return refusal(error.status, error.message);
    }
    if (error instanceof WebhookFailure) {
      metrics.panic();
      tracing?.failReview(error);
      const { uid, keys, message, cause } = error;
      const fields = { ...keys, error: message, ...stackOf(cause), ...tracing?.reviewLogFields() };
      this.#logLimited("error", "Webhook failed", path, fields);
      return refusal(500, `the webhook failed; its log has the reason under uid ${uid}`);
    }
    // Too deep for the language, a body that broke off.
    const told = { path, error: error instanceof Error ? error.message : String(error) };
    this.#logLimited("warn", "Webhook request not read", path, told);
    return refusal(400, "the request cannot be read");
  }

  /** Whoever reaches the port can cause such lines: each webhook has a limit of its own for each message. Metrics count them all. */
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

/** Of a URL that a server made: there is a host, and nothing behind the query. To parse it whole takes longer than to read the review. */
function pathAndQuery(url: string): [path: string, query: string] {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?", path);
  return query === -1 ? [url.slice(path), ""] : [url.slice(path, query), url.slice(query)];
}

/** How long the answer may take: the API server says how long it waits. */
function patienceOf(query: string, usual: number): number {
  const told = /[?&]timeout=(\d{1,4})s(?:&|$)/.exec(query)?.[1];
  const seconds = Math.min(told === undefined ? usual : Math.max(1, Number(told)), LONGEST);
  return Math.min(seconds * 1000 * SHARE, seconds * 1000 - MARGIN);
}

function json(body: unknown): Answer {
  return { status: 200, text: JSON.stringify(body), headers: { "content-type": JSON_TYPE, ...AS_IT_IS } };
}

/** In plain text: the API server quotes it in its own answer. One that is asked to wait tries again within its time. */
function refusal(status: number, message: string): Answer {
  return {
    status,
    text: message,
    headers: {
      "content-type": TEXT_TYPE,
      ...(status === 429 ? { "retry-after": "1" } : {}),
      ...(status === 405 ? { allow: "POST" } : {}),
      // The rest of its body is not waited for.
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
