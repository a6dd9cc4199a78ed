/** What is no review: told to the API server as a failed call, never as a verdict. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import type { AdmissionRequest, Operation } from "../../parts/webhook_context.ts";
import type { Webhook } from "../../parts/webhook.ts";

/** A request that cannot be answered: status and why. */
export class BadReview extends Error {
  override name = "BadReview";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * The request of an AdmissionReview, where it is one for a webhook.
 *
 * @param review The body.
 * @param webhook The webhook.
 * @throws {BadReview} If it is not.
 */
export function admissionRequest(review: unknown, webhook: Webhook): AdmissionRequest {
  if (!isObject(review)) throw new BadReview(400, "the body is no object");
  const [apiVersion, kind] = [own(review, "apiVersion"), own(review, "kind")];
  if (apiVersion !== "admission.k8s.io/v1" || kind !== "AdmissionReview") {
    const what = apiVersion === undefined && kind === undefined ? "the body" : `${told(apiVersion)} ${told(kind)}`;
    throw new BadReview(400, `${what} is not an AdmissionReview of admission.k8s.io/v1`);
  }
  const request = own(review, "request");
  if (!isObject(request)) throw new BadReview(400, "the review has no request");
  const fault = requestFault(request, webhook);
  if (fault !== undefined) throw new BadReview(400, fault);
  return request as unknown as AdmissionRequest;
}

/** What is wrong with a request; what is not looked at here is handed on as it came. */
function requestFault(request: Record<string, unknown>, webhook: Webhook): string | undefined {
  const uid = own(request, "uid");
  if (typeof uid !== "string" || uid === "") return "the request has no uid";
  const operation = own(request, "operation") as Operation;
  if (!webhook.operations.includes(operation)) return `the webhook is not asked about ${told(operation)}`;
  const { kind } = webhook;
  const resource = own(request, "resource");
  const wanted = { group: kind.group, version: kind.version, resource: kind.plural };
  for (const [key, value] of Object.entries(wanted)) {
    if (isObject(resource) && own(resource, key) === value) continue;
    return `the webhook is asked about ${kind.plural} of ${kind.apiVersion}, not about ${told(resource)}`;
  }
  if ((own(request, "subResource") || undefined) !== webhook.subresource) {
    return `the webhook is not asked about the subresource ${told(own(request, "subResource"))}`;
  }
  const type = own(request, "kind");
  if (!isObject(type) || !["group", "version", "kind"].every((key) => typeof own(type, key) === "string")) {
    return "the request names no kind";
  }
  const user = own(request, "userInfo");
  if (!isObject(user) || typeof (own(user, "username") ?? "") !== "string") return "the request names no user";
  for (const key of ["name", "namespace"]) {
    if (!["undefined", "string"].includes(typeof own(request, key))) return `the request's ${key} is no text`;
  }
  if (!["undefined", "boolean"].includes(typeof own(request, "dryRun"))) return "the request's dryRun is neither";
  return objectFault(request, operation, webhook);
}

function objectFault(
  request: Record<string, unknown>,
  operation: Operation,
  { subresource }: Webhook,
): string | undefined {
  const [object, old] = [own(request, "object") ?? undefined, own(request, "oldObject") ?? undefined];
  const needed = { CREATE: [object], UPDATE: [object, old], DELETE: [old], CONNECT: [object] }[operation];
  if (!needed.every(isObject)) return `a request to ${operation} lacks its object`;
  for (const one of [object, old]) {
    if (one === undefined) continue;
    if (!isObject(one)) return "an object of the request is none";
    // What a connection is made with has no metadata.
    const metadata = own(one, "metadata");
    if (operation === "CONNECT" || (subresource !== undefined && metadata === undefined)) continue;
    if (!isObject(metadata)) return "an object of the request has no metadata";
  }
  return undefined;
}

/** As much of it as a line can hold. */
function told(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
