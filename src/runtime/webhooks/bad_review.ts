/**
 * Checks the body of an AdmissionReview. An invalid body gets an error status, never a decision.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { AdmissionRequest, Operation } from "../../parts/webhook_context.ts";
import type { Webhook } from "../../parts/webhook.ts";

/** Thrown for a request that is not a valid review. */
export class BadReview extends Error {
  override name = "BadReview";
  /** HTTP status of the response. */
  readonly status: number;

  /**
   * @param status HTTP status of the response.
   * @param message Why the request is rejected. The API server shows it to the user.
   */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Returns the request of an AdmissionReview.
 *
 * @param review The body.
 * @param webhook The webhook that is called.
 * @throws {BadReview} If the body is not an AdmissionReview for this webhook.
 */
export function admissionRequest(review: unknown, webhook: Webhook): AdmissionRequest {
  if (!isObject(review)) throw new BadReview(400, "the body is not a JSON object");
  const [apiVersion, kind] = [own(review, "apiVersion"), own(review, "kind")];
  if (apiVersion !== "admission.k8s.io/v1" || kind !== "AdmissionReview") {
    const subject = apiVersion === undefined && kind === undefined
      ? "the body"
      : `${quoted(apiVersion)} ${quoted(kind)}`;
    throw new BadReview(400, `${subject} is not an AdmissionReview of admission.k8s.io/v1`);
  }
  const request = own(review, "request");
  if (!isObject(request)) throw new BadReview(400, "the review has no request");
  const problem = requestProblem(request, webhook);
  if (problem !== undefined) throw new BadReview(400, problem);
  return request as unknown as AdmissionRequest;
}

/**
 * Returns why a request is invalid, or `undefined` if it is valid. Other fields are not checked.
 */
function requestProblem(request: Record<string, unknown>, webhook: Webhook): string | undefined {
  const uid = own(request, "uid");
  if (typeof uid !== "string" || uid === "") return "the request has no uid";
  const operation = own(request, "operation") as Operation;
  if (!webhook.operations.includes(operation)) {
    return `the webhook does not handle operation ${quoted(operation)}`;
  }
  const { kind } = webhook;
  const resource = own(request, "resource");
  const wanted = { group: kind.group, version: kind.version, resource: kind.plural };
  for (const [key, value] of Object.entries(wanted)) {
    if (isObject(resource) && own(resource, key) === value) continue;
    return `the webhook handles ${kind.plural} of ${kind.apiVersion}, got ${quoted(resource)}`;
  }
  if ((own(request, "subResource") || undefined) !== webhook.subresource) {
    return `the webhook does not handle subresource ${quoted(own(request, "subResource"))}`;
  }
  const type = own(request, "kind");
  if (!isObject(type) || !["group", "version", "kind"].every((key) => typeof own(type, key) === "string")) {
    return "the request has no kind";
  }
  const user = own(request, "userInfo");
  if (!isObject(user) || typeof (own(user, "username") ?? "") !== "string") return "the request has no user";
  for (const key of ["name", "namespace"]) {
    if (!["undefined", "string"].includes(typeof own(request, key))) return `${key} of the request is not a string`;
  }
  if (!["undefined", "boolean"].includes(typeof own(request, "dryRun"))) {
    return "dryRun of the request is not a boolean";
  }
  return objectProblem(request, operation, webhook);
}

function objectProblem(
  request: Record<string, unknown>,
  operation: Operation,
  { subresource }: Webhook,
): string | undefined {
  const [object, old] = [own(request, "object") ?? undefined, own(request, "oldObject") ?? undefined];
  const needed = { CREATE: [object], UPDATE: [object, old], DELETE: [old], CONNECT: [object] }[operation];
  if (!needed.every(isObject)) return `the ${operation} request has no object`;
  for (const one of [object, old]) {
    if (one === undefined) continue;
    if (!isObject(one)) return "an object of the request is not a JSON object";
    // The options of a CONNECT request have no metadata.
    const metadata = own(one, "metadata");
    if (operation === "CONNECT" || (subresource !== undefined && metadata === undefined)) continue;
    if (!isObject(metadata)) return "an object of the request has no metadata";
  }
  return undefined;
}

/** Returns the first 120 characters of a value as JSON. */
function quoted(value: unknown): string {
  const text = value === undefined ? "undefined" : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
