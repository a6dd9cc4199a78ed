/**
 * Spans of what an operator does: of each run, of each call of the API server in it, of each change
 * that woke one, and of each review.
 *
 * A change in the cluster is a trace of its own, as short as it is; the run that it wakes is
 * another, linked to it. One run may answer to many changes, and one change may wake many objects,
 * which a tree of parents cannot say (OpenTelemetry's conventions on messaging have it so for
 * batches). A change that a run of ours made is a child of that run, so that the way from
 * controller to controller can be followed.
 *
 * Names of spans are few; what differs from object to object is in attributes, which are called as
 * those of OpenTelemetry's collector for Kubernetes' objects. The shapes are the OpenTelemetry
 * API's (`@opentelemetry/api` 1.x), of which only types are needed: whose tracer it is, the
 * operator says.
 */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { ApiError, type RequestInfo } from "../kube/api_error.ts";
import type { Reason } from "../parts/context.ts";
import type { Writer } from "../watch/own_writes.ts";
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";

/** What of a span others refer to. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

/** What is told of a span. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>;

/** A span that another one is linked to. */
export interface SpanLink {
  readonly context: SpanContext;
  readonly attributes?: SpanAttributes;
}

/** A span, as the OpenTelemetry API has it. */
export interface Span {
  spanContext(): SpanContext;
  setAttribute(name: string, value: string | number | boolean): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** How a span begins, as the OpenTelemetry API has it. */
export interface SpanOptions {
  readonly kind?: number;
  /** Whether it begins a trace, whatever goes on. */
  readonly root?: boolean;
  readonly attributes?: SpanAttributes;
  readonly links?: SpanLink[];
}

/** Makes spans, as the OpenTelemetry API has it. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
  startActiveSpan<T>(name: string, options: SpanOptions, call: (span: Span) => T): T;
}

/** The API's `SpanKind`. */
const KIND = { internal: 0, producer: 3, consumer: 4 } as const;
/** The API's `SpanStatusCode`. */
const ERROR = 2;
// OpenTelemetry keeps 128 links of a span; what wakes an object so often before it runs is told by
// the first.
const MOST_LINKS = 32;

/**
 * A change in the cluster, which may wake several objects or none: its span is made when it wakes
 * one.
 */
export interface Change {
  readonly object: KubeObject;
  /** Whether a run of this process made it. */
  readonly isOurs: boolean;
  /** The controller that made it. */
  readonly by?: Writer | undefined;
  link?: SpanContext;
}

/** A run under way. */
export interface RunSpan {
  /** Calls a function as a part of it. */
  within<T>(call: () => T): T;
  /** What log lines of the run carry, so that they are found from its trace. */
  readonly logFields: { readonly trace_id: string; readonly span_id: string };
  /**
   * Says how it ended.
   *
   * @param result In a word.
   * @param again Why the object runs again, where this run asked for it.
   */
  end(result: string, again: Reason | undefined): void;
  /** Says that it failed. */
  failed(error: unknown): void;
}

/**
 * Whose calls are a part of what: ended runs take no more. What a run began for longer, such as a
 * watch, is not its own.
 */
const open = new AsyncLocalStorage<Part>();

interface Part {
  isOver: boolean;
  /** The span of the review, where it is one. */
  readonly review?: Span;
  /** Whether that says already what went wrong. */
  hasFailed?: boolean;
}

/** The spans of one operator. */
export class Tracing {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** The spans of a controller's runs. */
  controller(part: string): RunTracing {
    return new RunTracing(this.#tracer, part);
  }

  /**
   * A call of the API server, where it is a part of a run or a review.
   *
   * @param asked What is asked.
   * @param send Asks.
   */
  readonly call = <T>(asked: RequestInfo, send: () => Promise<T>): Promise<T> => {
    const part = open.getStore();
    if (part === undefined || part.isOver) return send();
    const options = { kind: KIND.internal, attributes: { "op.call": `${asked.verb} ${asked.what}` } };
    return this.#tracer.startActiveSpan(callName(asked), options, async (span) => {
      try {
        return await send();
      } catch (error) {
        if (error instanceof ApiError) span.setAttribute("http.response.status_code", error.status);
        fail(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  };

  /**
   * The answer to a review of an admission, or to a conversion.
   *
   * @param path Its path.
   * @param answer Answers it.
   */
  review<Answer extends { readonly status: number }>(path: string, answer: () => Promise<Answer>): Promise<Answer> {
    const options = { kind: KIND.internal, attributes: { "op.webhook": path } };
    return this.#tracer.startActiveSpan(`webhook ${path}`, options, async (span) => {
      const part: Part = { isOver: false, review: span };
      try {
        const response = await open.run(part, answer);
        span.setAttribute("http.response.status_code", response.status);
        if (response.status >= 500 && !part.hasFailed) span.setStatus({ code: ERROR });
        return response;
      } finally {
        part.isOver = true;
        span.end();
      }
    });
  }

  /** Says more of the review that is being answered. */
  tellOfReview(attributes: SpanAttributes): void {
    const span = open.getStore()?.review;
    for (const [name, value] of Object.entries(attributes)) {
      span?.setAttribute(name, value as string | number | boolean);
    }
  }

  /** Says that the review that is being answered failed, whatever status its answer has. */
  failReview(error: unknown): void {
    const part = open.getStore();
    if (part?.review === undefined) return;
    part.hasFailed = true;
    fail(part.review, error);
  }

  /**
   * What log lines of the review that is being answered carry, so that they are found from its
   * trace.
   */
  reviewLogFields(): Record<string, string> {
    const span = open.getStore()?.review;
    return span === undefined ? {} : logFieldsOf(span.spanContext());
  }
}

/** The span of the review that is being answered, for those who answer it elsewhere. */
export function reviewTrace(): SpanContext | undefined {
  const context = open.getStore()?.review?.spanContext();
  return context && { traceId: context.traceId, spanId: context.spanId };
}

function logFieldsOf({ traceId, spanId }: SpanContext): { readonly trace_id: string; readonly span_id: string } {
  return { trace_id: traceId, span_id: spanId };
}

/** The spans of one controller's runs, and what woke its objects. */
export class RunTracing {
  readonly #tracer: Tracer;
  readonly #part: string;
  /** What woke each object since its last run began. */
  readonly #links = new Map<ObjectKey, SpanLink[]>();

  constructor(tracer: Tracer, part: string) {
    this.#tracer = tracer;
    this.#part = part;
  }

  /**
   * Remembers what wakes an object.
   *
   * @param key The object.
   * @param reason Why, in a word.
   * @param by What changed; nothing where it is no change of an object.
   */
  woken(key: ObjectKey, reason: Reason, by: Change | undefined): void {
    if (by === undefined) return;
    by.link ??= this.#changed(by);
    this.#link(key, { context: by.link, attributes: { "op.reason": reason } });
  }

  /** Forgets an object that is gone. */
  forget(key: ObjectKey): void {
    this.#links.delete(key);
  }

  /**
   * Begins a run.
   *
   * @param object The object.
   * @param reason Why it runs.
   * @param attempt Which try it is.
   */
  began(object: KubeObject, reason: Reason, attempt: number): RunSpan {
    const key = keyOf(object.metadata);
    const links = this.#links.get(key) ?? [];
    this.#links.delete(key);
    const attributes = {
      ...attributesOf(object),
      "op.controller": this.#part,
      "op.reason": reason,
      "op.attempt": attempt,
    };
    const options = { kind: KIND.consumer, root: true, attributes, links };
    return this.#tracer.startActiveSpan(`reconcile ${this.#part}`, options, (span) => {
      const part = { isOver: false };
      const context = span.spanContext();
      // The span is the active one here, and wherever this is called from.
      const snapshot = AsyncLocalStorage.snapshot();
      return {
        within: <T>(call: () => T): T => snapshot(() => open.run(part, call)) as T,
        logFields: logFieldsOf(context),
        failed: (error) => fail(span, error),
        end: (result, again) => {
          part.isOver = true;
          span.setAttribute("op.result", result);
          span.end();
          if (again !== undefined) this.#link(key, { context, attributes: { "op.reason": again } });
        },
      };
    });
  }

  #changed({ object, isOurs }: Change): SpanContext {
    const options = { kind: KIND.producer, root: !isOurs, attributes: attributesOf(object) };
    const span = this.#tracer.startSpan(`change ${object.kind}`, options);
    span.end();
    return span.spanContext();
  }

  #link(key: ObjectKey, link: SpanLink): void {
    const links = this.#links.get(key);
    if (links === undefined) this.#links.set(key, [link]);
    else if (links.length < MOST_LINKS) links.push(link);
  }
}

function attributesOf({ apiVersion, kind, metadata }: KubeObject): SpanAttributes {
  const { namespace, name, uid, resourceVersion } = metadata;
  return {
    "k8s.object.api_version": apiVersion,
    "k8s.object.kind": kind,
    "k8s.object.name": name,
    "k8s.object.uid": uid,
    "k8s.object.resource_version": resourceVersion,
    ...(namespace === undefined ? {} : { "k8s.namespace.name": namespace }),
  };
}

/** The verb and the kind, and the subresource if there is one: `patch Website/status`. */
function callName({ verb, what }: RequestInfo): string {
  const [kind] = what.split(" ", 1);
  const subresource = /" \((\w+)\)$/.exec(what)?.[1];
  return `${verb} ${kind}${subresource === undefined ? "" : `/${subresource}`}`;
}

function fail(span: Span, error: unknown): void {
  const message = withoutUrlCredentials(error instanceof Error ? error.message : String(error));
  span.setStatus({ code: ERROR, message });
}
