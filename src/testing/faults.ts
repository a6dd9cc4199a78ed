/** What can go wrong between an operator and an API server, to be injected into a memory cluster. */
import { type Duration, milliseconds } from "../base/duration.ts";
import type { Disturbance } from "../apiserver/verbs/watch.ts";
import { modified, notFound, StatusError } from "../apiserver/wire/status_error.ts";
import type { RequestRecord } from "./request_log.ts";

/** What befalls a request. Made by {@linkcode faults}. */
export interface Fault {
  /** What the request log says. */
  readonly name: string;
  /** How long the request is held before it goes on, in milliseconds. */
  readonly delay?: number;
  /** What is answered in place of the server; the server does not see the request. */
  readonly answer?: (request: RequestRecord) => Response;
  /** Where the connection breaks: before the server sees the request, or after it did what was asked. */
  readonly breaks?: "before" | "after";
  /** What befalls a watch, be it open already. */
  readonly watch?: Disturbance;
}

/** Makers of faults. */
export interface Faults {
  /** Another status, such as 500, 503 or 403, with the body that the server has for it. */
  status(code: number, message?: string): Fault;
  /** 409: somebody else has changed the object. */
  conflict(): Fault;
  /** 429 with `Retry-After`. @param retryAfter Rounded up to seconds. */
  tooManyRequests(retryAfter?: Duration): Fault;
  /** 410: what a list or a watch goes on from is forgotten. An open watch is told so and ended. */
  gone(): Fault;
  /** The answer comes later, by the cluster's clock. */
  delay(duration: Duration): Fault;
  /** The connection is refused: the server does not see the request. */
  refused(): Fault;
  /** The server does what was asked, and the connection breaks before it says so. */
  answerLost(): Fault;
  /** The connection of a watch breaks. */
  watchCut(): Fault;
  /** A watch stays open and says nothing more, not even a bookmark. */
  watchSilent(): Fault;
}

/**
 * Makers of faults, for {@linkcode MemoryCluster.inject}.
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
 * await cluster.patch(ConfigMap, "settings", { data: { a: "1" } }); // the second time it goes through
 * ```
 */
export const faults: Faults = {
  status: (code, message) => ({ name: String(code), answer: (request) => refusal(statusOf(code, message, request)) }),
  conflict: () => ({ name: "409", answer: (request) => refusal(modified(resourceOf(request), request.name ?? "")) }),
  tooManyRequests(retryAfter = "1s") {
    const seconds = Math.ceil(milliseconds(retryAfter) / 1000);
    const headers = { "content-type": "text/plain; charset=utf-8", "retry-after": String(seconds) };
    const text = "Too many requests, please try again later.\n";
    return { name: "429", answer: () => new Response(text, { status: 429, headers }) };
  },
  gone: () => ({
    name: "410",
    watch: "expire",
    answer: () => refusal(new StatusError(410, "Expired", "The resourceVersion for the provided list is too old.")),
  }),
  delay: (duration) => ({ name: `delay ${duration}`, delay: milliseconds(duration) }),
  refused: () => ({ name: "refused", breaks: "before" }),
  answerLost: () => ({ name: "answer lost", breaks: "after" }),
  watchCut: () => ({ name: "watch cut", watch: "cut" }),
  watchSilent: () => ({ name: "watch silent", watch: "silence" }),
};

function resourceOf({ group = "", resource = "" }: RequestRecord): { group: string; plural: string } {
  return { group, plural: resource };
}

/** Reasons and messages as the server has them (`k8s.io/apimachinery/pkg/api/errors`). */
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
  const [reason, usual] = STATUSES[code] ?? [undefined, `the server answered ${code}`];
  return new StatusError(code, reason, message ?? usual, {});
}

function refusal({ status, code }: StatusError): Response {
  return Response.json(status, { status: code });
}
