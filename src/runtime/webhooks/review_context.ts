/** Creates the context of webhook functions, as `parts/webhook_context.ts` defines it. */
import type { Clock } from "../../base/clock.ts";
import { isStatus } from "../../kube/api_error.ts";
import type { Client } from "../../kube/client.ts";
import type { ListOptions, NamespaceOptions } from "../../parts/context.ts";
import type { Webhook } from "../../parts/webhook.ts";
import type { AdmissionRequest } from "../../parts/webhook_context.ts";
import type { AnyKind } from "../../resource/kind.ts";
import { keyOf } from "../../watch/key.ts";
import type { InformerCache } from "../../watch/informer_cache.ts";
import type { CodeObserver } from "../code_failure.ts";
import type { Logger } from "../logger.ts";
import { isSame } from "../scope.ts";
import type { Tracing } from "../tracing.ts";
import type { ReviewNotes } from "./admission_response.ts";
import type { ReviewTimeout } from "./review_timeout.ts";

/** The dependencies of webhook functions. */
export interface ReviewDependencies {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly services: () => unknown;
  /** Caches of the kinds that webhooks read. @default {[]} */
  readonly caches?: readonly InformerCache[];
  /** Called with the name of a part when the API server denies one of its reads. */
  readonly onForbidden?: (part: string) => void;
  /** Creates spans; `undefined` if tracing is off. */
  readonly tracing?: Tracing | undefined;
  /** Observes failures of user code, in tests. */
  readonly observe?: CodeObserver | undefined;
}

/** A review. */
export interface Review {
  readonly part: string;
  readonly request: AdmissionRequest;
  readonly notes: ReviewNotes;
  /** Expires when the API server no longer waits for the response. */
  readonly reviewTimeout: ReviewTimeout;
}

const AUDIT_KEY = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * Creates the context of a review. Its functions do not use `this`, so they may be destructured.
 *
 * @param webhook The webhook.
 * @param review The review.
 * @param dependencies The client, caches, log and clock.
 */
export function createReviewContext(webhook: Webhook, review: Review, dependencies: ReviewDependencies): unknown {
  const { part, request, notes, reviewTimeout } = review;
  const { namespace = "" } = request;
  let log: Logger | undefined;
  return {
    operation: request.operation,
    old: request.oldObject ?? undefined,
    user: request.userInfo,
    dryRun: request.dryRun ?? false,
    name: request.name ?? "",
    namespace: namespace === "" ? undefined : namespace,
    request,
    warn: (message: string) => void notes.warnings.push(message),
    audit: (key: string, value: string) => audit(notes, key, value),
    get: (kind: AnyKind, name: string, options?: NamespaceOptions) =>
      get(webhook, review, dependencies, kind, name, options),
    list: (kind: AnyKind, options?: ListOptions) => list(webhook, review, dependencies, kind, options),
    now: () => new Date(dependencies.clock.now()),
    clock: dependencies.clock,
    get services() {
      return dependencies.services();
    },
    get log() {
      return log ??= dependencies.log.with({
        ...reviewKeys(request, part),
        ...dependencies.tracing?.reviewLogFields(),
      });
    },
    get signal() {
      return reviewTimeout.signal;
    },
  };
}

/** Log fields that identify a request and its object. */
export type ReviewKeys = {
  readonly webhook: string;
  readonly uid: string;
  readonly operation: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name?: string;
};

/**
 * Returns the log fields that identify a request and its object.
 *
 * @param request The request.
 * @param part Name of the webhook's part.
 */
export function reviewKeys(request: AdmissionRequest, part: string): ReviewKeys {
  const { uid, operation, kind: { kind }, namespace, name } = request;
  return { webhook: part, uid, operation, kind, ...(namespace ? { namespace } : {}), ...(name ? { name } : {}) };
}

function audit(notes: ReviewNotes, key: string, value: string): void {
  if (!AUDIT_KEY.test(key)) {
    throw new TypeError(
      `audit(): key "${key}" is invalid. Use at most 63 letters, digits, "-", "_" and "."; the first and last character must be a letter or digit`,
    );
  }
  notes.audit.set(key, value);
}

async function get(
  webhook: Webhook,
  review: Review,
  dependencies: ReviewDependencies,
  kind: AnyKind,
  name: string,
  { namespace: requested }: NamespaceOptions = {},
): Promise<unknown> {
  const namespace = namespaceFor(review, kind, requested);
  const cache = await cacheOf(webhook, review, dependencies, kind, namespace);
  if (cache !== undefined) return cache.get(keyOf({ name, namespace }));
  rejectUndeclared(webhook, kind, "get");
  try {
    return await readServer(
      review,
      dependencies,
      () => dependencies.client.get(kind, name, callOptions(review, namespace)),
    );
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

async function list(
  webhook: Webhook,
  review: Review,
  dependencies: ReviewDependencies,
  kind: AnyKind,
  { namespace: requested, selector = {} }: ListOptions = {},
): Promise<readonly unknown[]> {
  const namespace = requested === "*" ? undefined : namespaceFor(review, kind, requested);
  const labels = Object.entries(selector);
  const cache = await cacheOf(webhook, review, dependencies, kind, namespace);
  if (cache !== undefined) {
    return [...cache.values(namespace)].filter(({ metadata }) =>
      labels.every(([label, value]) => metadata.labels?.[label] === value)
    );
  }
  rejectUndeclared(webhook, kind, "list");
  const labelSelector = labels.map(([label, value]) => `${label}=${value}`).join(",");
  const options = { ...callOptions(review, namespace), ...(labelSelector === "" ? {} : { labelSelector }) };
  return await readServer(review, dependencies, () => dependencies.client.list(kind, options));
}

/**
 * Returns the cache for a read, once it is synced; `undefined` if the object must be read from the
 * API server, such as when the operator does not watch the namespace.
 */
async function cacheOf(
  { reads }: Webhook,
  { reviewTimeout }: Review,
  { caches = [] }: ReviewDependencies,
  kind: AnyKind,
  namespace: string | undefined,
): Promise<InformerCache | undefined> {
  if (!reads.some((read) => isSame(read, kind))) return undefined;
  const cache = caches.find((cache) => isSame(cache.kind, kind));
  if (cache?.covers(namespace) !== true) return undefined;
  if (!cache.isSynced) await cache.ready(reviewTimeout.signal);
  return cache;
}

function rejectUndeclared({ reads, uses }: Webhook, kind: AnyKind, verb: "get" | "list"): void {
  const isDeclared = reads.some((read) => isSame(read, kind)) ||
    uses.some((used) => isSame(used.kind, kind) && used.verbs.includes(verb));
  if (isDeclared) return;
  throw new TypeError(
    `Cannot ${verb} ${kind.kind}: the webhook does not declare it. Add ${kind.kind} to "reads", or access(${kind.kind}, "${verb}") to "uses"`,
  );
}

/**
 * Reads from the API server. A read that is denied because an RBAC permission was removed is
 * reported to `onForbidden`.
 */
async function readServer<T>(
  { part }: Review,
  { onForbidden }: ReviewDependencies,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isStatus(error, 403)) onForbidden?.(part);
    throw error;
  }
}

function namespaceFor({ request }: Review, kind: AnyKind, requested: string | undefined): string | undefined {
  const namespace = requested ?? request.namespace ?? "";
  return kind.namespaced && namespace !== "" ? namespace : undefined;
}

function callOptions({ reviewTimeout }: Review, namespace: string | undefined) {
  return { signal: reviewTimeout.signal, ...(namespace === undefined ? {} : { namespace }) };
}
