/**
 * Spans of an operator. Each reconcile has a span, and so has each API request in it, each change
 * that triggered a reconcile, and each webhook review.
 *
 * A change in the cluster has a trace of its own. The reconcile that it triggers has another trace,
 * with a link to the change. A reconcile may have several triggers, and a change may trigger many
 * objects, which a tree of parents cannot express (OpenTelemetry's messaging conventions do the
 * same for batches). A change made by a reconcile is its child, so that traces lead from controller
 * to controller.
 *
 * There are few span names; details are in attributes, named as in OpenTelemetry's collector for
 * Kubernetes objects. The types are those of `@opentelemetry/api` 1.x. The operator provides the
 * tracer.
 */
import { withoutUrlCredentials } from "../base/url_credentials.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { ApiError, type RequestInfo } from "../kube/api_error.ts";
import type { ReconcileReason } from "../parts/context.ts";
import type { Writer } from "../watch/own_writes.ts";
import type { KubeObject } from "../resource/kind.ts";
import { keyOf, type ObjectKey } from "../watch/key.ts";

/** The identity of a span. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

/** Attributes of a span. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>;

/** A link to another span. */
export interface SpanLink {
  readonly context: SpanContext;
  readonly attributes?: SpanAttributes;
}

/** A span of the OpenTelemetry API. */
export interface Span {
  spanContext(): SpanContext;
  setAttribute(name: string, value: string | number | boolean): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** Options of a new span in the OpenTelemetry API. */
export interface SpanOptions {
  readonly kind?: number;
  /** Whether it begins a new trace, regardless of the active span. */
  readonly root?: boolean;
  readonly attributes?: SpanAttributes;
  readonly links?: SpanLink[];
}

/** A tracer of the OpenTelemetry API. */
export interface Tracer {
  startSpan(name: string, options?: SpanOptions): Span;
  startActiveSpan<T>(name: string, options: SpanOptions, call: (span: Span) => T): T;
}

/** The API's `SpanKind`. */
const SPAN_KIND = { internal: 0, producer: 3, consumer: 4 } as const;
/** The API's `SpanStatusCode`. */
const STATUS_ERROR = 2;
// OpenTelemetry stores 128 links per span. Further triggers of a reconcile are not linked.
const MAX_LINKS = 32;

/**
 * A change in the cluster. Its span is created when it triggers the first object.
 */
export interface Change {
  readonly object: KubeObject;
  /** Whether a reconcile of this process made it. */
  readonly isOurs: boolean;
  /** The controller that made it. */
  readonly by?: Writer | undefined;
  link?: SpanContext;
}

/** A running reconcile. */
export interface ReconcileSpan {
  /** Calls a function as part of the reconcile. */
  within<T>(call: () => T): T;
  /** Fields for the log lines of the reconcile, which identify its trace. */
  readonly logFields: { readonly trace_id: string; readonly span_id: string };
  /**
   * Ends the span.
   *
   * @param result The result: `success`, `error` or `aborted`.
   * @param again Why the object is reconciled again, if it is.
   */
  end(result: string, again: ReconcileReason | undefined): void;
  /** Records the error of a failed reconcile. */
  failed(error: unknown): void;
}

/** The current reconcile or review. After its end, requests are no longer part of it. */
const currentCall = new AsyncLocalStorage<TracedCall>();

/** A reconcile or review that is traced. */
interface TracedCall {
  isOver: boolean;
  /** The span of a review; `undefined` for a reconcile. */
  readonly review?: Span;
  /** Whether the review has recorded its failure. */
  hasFailed?: boolean;
}

/** The spans of one operator. */
export class Tracing {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Returns the spans of a controller's reconciles. */
  controller(part: string): ReconcileTracing {
    return new ReconcileTracing(this.#tracer, part);
  }

  /**
   * Creates the span of an API request, if it is part of a reconcile or review.
   *
   * @param request The request.
   * @param send Sends the request.
   */
  readonly call = <T>(request: RequestInfo, send: () => Promise<T>): Promise<T> => {
    const current = currentCall.getStore();
    if (current === undefined || current.isOver) return send();
    const options = { kind: SPAN_KIND.internal, attributes: { "op.call": `${request.verb} ${request.target}` } };
    return this.#tracer.startActiveSpan(requestSpanName(request), options, async (span) => {
      try {
        return await send();
      } catch (error) {
        if (error instanceof ApiError) span.setAttribute("http.response.status_code", error.status);
        recordError(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  };

  /**
   * Creates the span of an admission or conversion review.
   *
   * @param path Path of the webhook.
   * @param handle Handles the review.
   */
  review<R extends { readonly status: number }>(path: string, handle: () => Promise<R>): Promise<R> {
    const options = { kind: SPAN_KIND.internal, attributes: { "op.webhook": path } };
    return this.#tracer.startActiveSpan(`webhook ${path}`, options, async (span) => {
      const current: TracedCall = { isOver: false, review: span };
      try {
        const response = await currentCall.run(current, handle);
        span.setAttribute("http.response.status_code", response.status);
        if (response.status >= 500 && !current.hasFailed) span.setStatus({ code: STATUS_ERROR });
        return response;
      } finally {
        current.isOver = true;
        span.end();
      }
    });
  }

  /** Adds attributes to the span of the current review. */
  addReviewAttributes(attributes: SpanAttributes): void {
    const span = currentCall.getStore()?.review;
    for (const [name, value] of Object.entries(attributes)) {
      span?.setAttribute(name, value as string | number | boolean);
    }
  }

  /** Records that the current review failed, whatever its response status is. */
  failReview(error: unknown): void {
    const current = currentCall.getStore();
    if (current?.review === undefined) return;
    current.hasFailed = true;
    recordError(current.review, error);
  }

  /**
   * Returns fields for log lines of the current review, which identify its trace.
   */
  reviewLogFields(): Record<string, string> {
    const span = currentCall.getStore()?.review;
    return span === undefined ? {} : logFieldsOf(span.spanContext());
  }
}

/** Returns the identity of the current review's span, for the thread that handles the review. */
export function reviewTrace(): SpanContext | undefined {
  const context = currentCall.getStore()?.review?.spanContext();
  return context && { traceId: context.traceId, spanId: context.spanId };
}

function logFieldsOf({ traceId, spanId }: SpanContext): { readonly trace_id: string; readonly span_id: string } {
  return { trace_id: traceId, span_id: spanId };
}

/** The spans of one controller's reconciles, and the triggers of its objects. */
export class ReconcileTracing {
  readonly #tracer: Tracer;
  readonly #part: string;
  /** The triggers of each object since its last reconcile began. */
  readonly #links = new Map<ObjectKey, SpanLink[]>();

  constructor(tracer: Tracer, part: string) {
    this.#tracer = tracer;
    this.#part = part;
  }

  /**
   * Records a trigger of an object.
   *
   * @param key The object.
   * @param reason The reason, in one word.
   * @param by The change that triggered it, if any.
   */
  triggered(key: ObjectKey, reason: ReconcileReason, by: Change | undefined): void {
    if (by === undefined) return;
    by.link ??= this.#changeSpan(by);
    this.#link(key, { context: by.link, attributes: { "op.reason": reason } });
  }

  /** Removes the recorded triggers of a deleted object. */
  forget(key: ObjectKey): void {
    this.#links.delete(key);
  }

  /**
   * Begins the span of a reconcile.
   *
   * @param object The object.
   * @param reason Why it is reconciled.
   * @param attempt Number of the attempt, from 1.
   */
  begin(object: KubeObject, reason: ReconcileReason, attempt: number): ReconcileSpan {
    const key = keyOf(object.metadata);
    const links = this.#links.get(key) ?? [];
    this.#links.delete(key);
    const attributes = {
      ...attributesOf(object),
      "op.controller": this.#part,
      "op.reason": reason,
      "op.attempt": attempt,
    };
    const options = { kind: SPAN_KIND.consumer, root: true, attributes, links };
    return this.#tracer.startActiveSpan(`reconcile ${this.#part}`, options, (span) => {
      const current = { isOver: false };
      const context = span.spanContext();
      // The span is active here and in the caller.
      const snapshot = AsyncLocalStorage.snapshot();
      return {
        within: <T>(call: () => T): T => snapshot(() => currentCall.run(current, call)) as T,
        logFields: logFieldsOf(context),
        failed: (error) => recordError(span, error),
        end: (result, again) => {
          current.isOver = true;
          span.setAttribute("op.result", result);
          span.end();
          if (again !== undefined) this.#link(key, { context, attributes: { "op.reason": again } });
        },
      };
    });
  }

  #changeSpan({ object, isOurs }: Change): SpanContext {
    const options = { kind: SPAN_KIND.producer, root: !isOurs, attributes: attributesOf(object) };
    const span = this.#tracer.startSpan(`change ${object.kind}`, options);
    span.end();
    return span.spanContext();
  }

  #link(key: ObjectKey, link: SpanLink): void {
    const links = this.#links.get(key);
    if (links === undefined) this.#links.set(key, [link]);
    else if (links.length < MAX_LINKS) links.push(link);
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

/** Returns the verb, the kind and the subresource of a request: `patch Website/status`. */
function requestSpanName({ verb, target }: RequestInfo): string {
  const [kind] = target.split(" ", 1);
  const subresource = /" \((\w+)\)$/.exec(target)?.[1];
  return `${verb} ${kind}${subresource === undefined ? "" : `/${subresource}`}`;
}

function recordError(span: Span, error: unknown): void {
  const message = withoutUrlCredentials(error instanceof Error ? error.message : String(error));
  span.setStatus({ code: STATUS_ERROR, message });
}
