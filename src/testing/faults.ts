/** Faults of API servers and connections, to inject into a memory cluster. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { WatchFault } from "../apiserver/verbs/watch.ts";
import { modified, notFound, StatusError } from "../apiserver/wire/status_error.ts";
import type { RequestFilter, RequestRecord } from "./request_log.ts";

/** A fault of a request or a watch. Created by {@linkcode faults}. */
export interface Fault {
  /** Name of the fault in `faults` of a {@linkcode RequestRecord}. */
  readonly name: string;
  /** Delay before the request is sent, in milliseconds. */
  readonly delay?: number;
  /** Returns a response instead of the server, which does not receive the request. */
  readonly respond?: (request: RequestRecord) => Response;
  /**
   * Whether the connection breaks before the server receives the request, or after it handled it.
   */
  readonly disconnect?: "before" | "after";
  /** Fault of a watch. It also applies to a watch that is already open. */
  readonly watch?: WatchFault;
}

/** Selects the requests that a fault affects, and limits their number. */
export interface FaultFilter extends RequestFilter {
  /** Number of requests that it affects. @default {1} */
  readonly times?: number;
  /** Number of matching requests to skip first. @default {0} */
  readonly after?: number;
}

/** A fault that was injected. Disposing of it removes it. */
export interface InjectedFault extends Disposable {
  /** The requests and watches that it affected. */
  readonly hits: readonly RequestRecord[];
  /** Number of requests that it will still affect. */
  readonly remaining: number;
}

/** Functions that create faults. */
export interface Faults {
  /**
   * The server answers with an error.
   *
   * @param code HTTP status, such as 500, 503 or 403.
   * @param message Message of the Status object. @default {the message of a Kubernetes API server}
   */
  status(code: number, message?: string): Fault;
  /** The server answers 409 Conflict, as if another client had changed the object. */
  conflict(): Fault;
  /**
   * The server answers 429 Too Many Requests.
   *
   * @param retryAfter Value of the `Retry-After` header, rounded up to seconds. @default {"1s"}
   */
  tooManyRequests(retryAfter?: Duration): Fault;
  /**
   * The server answers 410 Gone to a list or a watch. An open watch receives an ERROR event with it
   * and ends.
   */
  gone(): Fault;
  /** The request is delayed, by the cluster's clock. */
  delay(duration: Duration): Fault;
  /** The connection is refused: the server does not receive the request. */
  refused(): Fault;
  /** The server handles the request, and the connection breaks before the response arrives. */
  responseLost(): Fault;
  /** The connection of a watch breaks. */
  watchCut(): Fault;
  /** A watch stays open but sends no more events, not even bookmarks. */
  watchSilent(): Fault;
}

/**
 * Creates faults for {@linkcode MemoryCluster.inject}.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { ConfigMap } from "@op/sdk/kinds";
 * import { faults, memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * cluster.inject(faults.conflict(), { verb: "patch", kind: ConfigMap, name: "settings" });
 * await cluster.create(ConfigMap, "settings", {});
 *
 * await assert.rejects(cluster.patch(ConfigMap, "settings", { data: { a: "1" } }), /409 Conflict/);
 * await cluster.patch(ConfigMap, "settings", { data: { a: "1" } }); // The second patch succeeds.
 * ```
 */
export const faults: Faults = {
  status: (code, message) => ({
    name: String(code),
    respond: (request) => errorResponse(statusOf(code, message, request)),
  }),
  conflict: () => ({
    name: "409",
    respond: (request) => errorResponse(modified(resourceOf(request), request.name ?? "")),
  }),
  tooManyRequests(retryAfter = "1s") {
    const seconds = Math.ceil(milliseconds(retryAfter) / 1000);
    const headers = { "content-type": "text/plain; charset=utf-8", "retry-after": String(seconds) };
    const text = "Too many requests, please try again later.\n";
    return { name: "429", respond: () => new Response(text, { status: 429, headers }) };
  },
  gone: () => ({
    name: "410",
    watch: "expire",
    respond: () =>
      errorResponse(new StatusError(410, "Expired", "The resourceVersion for the provided list is too old.")),
  }),
  delay: (duration) => ({ name: `delay ${duration}`, delay: milliseconds(duration) }),
  refused: () => ({ name: "refused", disconnect: "before" }),
  responseLost: () => ({ name: "response lost", disconnect: "after" }),
  watchCut: () => ({ name: "watch cut", watch: "cut" }),
  watchSilent: () => ({ name: "watch silent", watch: "silence" }),
};

function resourceOf({ group = "", resource = "" }: RequestRecord): { group: string; plural: string } {
  return { group, plural: resource };
}

/** Reasons and messages of kube-apiserver (`k8s.io/apimachinery/pkg/api/errors`). */
const STATUSES: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ["BadRequest", "the server rejected our request for an unknown reason"],
  401: ["Unauthorized", "Unauthorized"],
  403: ["Forbidden", "forbidden"],
  405: ["MethodNotAllowed", "the server does not allow this method on the requested resource"],
  422: ["Invalid", "the server rejected our request due to an error in our request"],
  500: ["InternalError", "an error on the server has prevented the request from succeeding"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
  504: [
    "Timeout",
    "the server was unable to return a response in the time allotted, but may still be processing the request",
  ],
};

function statusOf(code: number, message: string | undefined, request: RequestRecord): StatusError {
  if (code === 404 && message === undefined) return notFound(resourceOf(request), request.name ?? "");
  const [reason, defaultMessage] = STATUSES[code] ?? [undefined, `the server answered ${code}`];
  return new StatusError(code, reason, message ?? defaultMessage, {});
}

function errorResponse({ status, code }: StatusError): Response {
  return Response.json(status, { status: code });
}
