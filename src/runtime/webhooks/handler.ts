/**
 * Answers the API server's calls: `(Request) => Promise<Response>`. Whatever comes, the answer is a verdict of the user's function, or a status that the
 * API server takes for a failed call, upon which it does as the failure policy says. Nothing is allowed because something went wrong.
 *
 * Source: `k8s.io/apiserver/pkg/admission/plugin/webhook` and `k8s.io/apiextensions-apiserver/pkg/apiserver/conversion` for what is called how.
 */
import { conversionsOf, type Parts, webhooksOf } from "../../parts/part_list.ts";
import type { Webhook } from "../../parts/webhook.ts";
import { CONVERSION_PATH, webhookPath, type WebhookPhase } from "../../parts/webhook_entries.ts";
import type { Metrics, WebhookMetrics } from "../metrics.ts";
import { admit, WebhookFailure } from "./admit.ts";
import { BadReview } from "./bad_review.ts";
import { BodyReader } from "./body.ts";
import { Deadlines } from "./deadlines.ts";
import { Patience } from "./patience.ts";
import { ConversionFailure, conversionRequest, Conversions, convertAll } from "./convert.ts";
import type { Surroundings } from "./review_context.ts";
import type { ReviewThreads } from "./review_threads.ts";

/** How much a server of webhooks takes. */
export interface WebhookLimits {
  /** Requests that are answered at once. What comes beyond is told to come again. @default {256} */
  readonly inFlight?: number;
  /** Bytes of a review: two objects as large as a server takes. @default {7 MiB} */
  readonly review?: number;
  /** Bytes of a conversion, which may be about a whole list. @default {64 MiB} */
  readonly conversion?: number;
  /** Bytes of all bodies that are held at once. @default {96 MiB} */
  readonly held?: number;
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

/** The whole request was there, and its function did not answer in time. */
class LateAnswer extends BadReview {
  override name = "LateAnswer";
}

interface Route {
  readonly path: string;
  readonly metrics: WebhookMetrics;
  readonly longest: number;
  /** Seconds, where the request does not say. */
  readonly timeout: number;
  answer(text: string, patience: Patience): Promise<unknown> | unknown;
}

/** Answers the API server's calls. */
export class WebhookHandler {
  /** Grows with each request that begins or ends. */
  activity = 0;
  readonly #options: WebhookHandlerOptions;
  readonly #routes = new Map<string, Route>();
  readonly #bodies: BodyReader;
  readonly #deadlines: Deadlines;
  readonly #most: number;
  #isReady = false;
  #inFlight = 0;

  constructor(options: WebhookHandlerOptions) {
    const { parts, metrics, clock, signal, ready, isServed, limits = {} } = options;
    const { inFlight = 256, review = 7 * MIB, conversion = 64 * MIB, held = 96 * MIB } = limits;
    this.#options = options;
    this.#most = inFlight;
    this.#bodies = new BodyReader(held);
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

  /** Answers a request. It never rejects. */
  readonly fetch = async (request: Request): Promise<Response> => {
    const [path, query] = pathAndQuery(request.url);
    const route = this.#routes.get(path);
    if (route === undefined) return refusal(404, `there is no webhook at ${path}`);
    const { clock, tracing } = this.#options;
    const began = clock.elapsed();
    this.#inFlight++;
    this.activity++;
    route.metrics.began();
    const response =
      await (tracing === undefined
        ? this.#settled(route, request, query)
        : tracing.review(path, () => this.#settled(route, request, query)));
    this.#inFlight--;
    this.activity++;
    route.metrics.ended(String(response.status), (clock.elapsed() - began) / 1000);
    return response;
  };

  async #settled(route: Route, request: Request, query: string): Promise<Response> {
    const failed = this.#options.observe?.();
    try {
      return await this.#answer(route, request, query);
    } catch (error) {
      if (error instanceof WebhookFailure) {
        const { keys: { webhook: part, kind, namespace, name }, cause } = error;
        failed?.({ what: "webhook", part, kind, namespace, name, error: cause });
      }
      return this.#failed(error, route);
    }
  }

  async #answer(route: Route, request: Request, query: string): Promise<Response> {
    if (request.method !== "POST") throw new BadReview(405, "only POST is answered here");
    const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    if (type !== "application/json") throw new BadReview(415, 'only "application/json" is read here');
    if (this.#inFlight > this.#most) throw new BadReview(429, `${this.#most} requests are being answered: try again`);
    const longest = patienceOf(query, route.timeout);
    const patience = new Patience(this.#options.signal);
    const progress = { isAsked: false };
    const late = (): void => {
      const Late = progress.isAsked ? LateAnswer : BadReview;
      patience.end(new Late(504, `no answer within ${longest} ms`));
    };
    const deadline = this.#deadlines.after(longest, late);
    try {
      const answer = await patience.orEnd(this.#read(route, request, patience, progress));
      return answer instanceof Response ? answer : json(answer);
    } finally {
      this.#deadlines.forget(deadline);
      patience.release();
    }
  }

  async #read(
    route: Route,
    request: Request,
    patience: Patience,
    progress: { isAsked: boolean },
  ): Promise<unknown> {
    if (!this.#isReady) await this.#options.ready;
    const body = await this.#bodies.read(request, route.longest, patience);
    // A thread tells of its own.
    progress.isAsked = this.#options.threads === undefined;
    if (typeof body === "string") return await this.#pass(route, request.url, body, patience);
    try {
      return await this.#pass(route, request.url, body.text, patience);
    } finally {
      body[Symbol.dispose]();
    }
  }

  async #pass(route: Route, url: string, text: string, patience: Patience): Promise<unknown> {
    const { threads } = this.#options;
    if (threads === undefined) return await route.answer(text, patience);
    const answer = await threads.ask(url, text, patience);
    if (answer.status === 500) route.metrics.panic();
    const type = answer.status === 200 ? "application/json" : "text/plain; charset=utf-8";
    return new Response(answer.text, { status: answer.status, headers: { "content-type": type, ...AS_IT_IS } });
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
      const { log, tracing } = this.#options;
      log.error("Conversion failed", {
        uid,
        error: error.message,
        ...stackOf(error.cause),
        ...tracing?.reviewLogFields(),
      });
      tracing?.failReview(error);
      const result = { status: "Failure", message: error.message };
      return { ...type, response: { uid, convertedObjects: [], result } };
    }
  }

  /** What went wrong, as a status. What the user's code said is in the log, and not in the answer. */
  #failed(error: unknown, { metrics, path }: Route): Response {
    const { log, tracing } = this.#options;
    if (error instanceof BadReview) {
      const told = { path, status: error.status, error: error.message };
      // What is no review is somebody else's fault, and may come often.
      if (error instanceof LateAnswer) log.warn("Webhook request not answered", told);
      else log.debug("Webhook request not answered", told);
      return refusal(error.status, error.message);
    }
    if (error instanceof WebhookFailure) {
      metrics.panic();
      tracing?.failReview(error);
      const { uid, keys, message, cause } = error;
      log.error("Webhook failed", { ...keys, error: message, ...stackOf(cause), ...tracing?.reviewLogFields() });
      return refusal(500, `the webhook failed; its log has the reason under uid ${uid}`);
    }
    // Too deep for the language, a body that broke off.
    log.warn("Webhook request not read", { error: error instanceof Error ? error.message : String(error) });
    return refusal(400, "the request cannot be read");
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

function json(body: unknown): Response {
  return new Response(JSON.stringify(body), { headers: { "content-type": "application/json", ...AS_IT_IS } });
}

/** In plain text: the API server quotes it in its own answer. One that is asked to wait tries again within its time. */
function refusal(status: number, message: string): Response {
  return new Response(message, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      ...(status === 429 ? { "retry-after": "1" } : {}),
      ...(status === 405 ? { allow: "POST" } : {}),
    },
  });
}

function stackOf(cause: unknown): { readonly stack?: string } {
  return cause instanceof Error && cause.stack !== undefined ? { stack: cause.stack } : {};
}
