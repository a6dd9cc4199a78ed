/** Handles an AdmissionReview with a webhook's functions. */
import { withoutUrlCredentials } from "../../base/url_credentials.ts";
import { maskSecrets } from "../../base/mask_secrets.ts";
import { Denial } from "../../parts/denial.ts";
import type { Webhook } from "../../parts/webhook.ts";
import type { AdmissionRequest } from "../../parts/webhook_context.ts";
import type { WebhookPhase } from "../../parts/webhook_entries.ts";
import type { SpanAttributes } from "../tracing.ts";
import {
  type AdmissionResponse,
  allowResponse,
  denyResponse,
  isDenial,
  type ReviewNotes,
} from "./admission_response.ts";
import { admissionRequest } from "./bad_review.ts";
import { patchOfDraft, patchOfWanted } from "./patch.ts";
import type { ReviewTimeout } from "./review_timeout.ts";
import { createReviewContext, type ReviewDependencies, type ReviewKeys, reviewKeys } from "./review_context.ts";

/** Options of {@linkcode admit}. */
export interface AdmitOptions {
  /** Name of the part. */
  readonly part: string;
  readonly phase: WebhookPhase;
  /** Expires when the API server no longer waits for the response. */
  readonly reviewTimeout: ReviewTimeout;
}

/**
 * Thrown when a webhook's function fails. The response is then an error, for which the API server
 * applies the webhook's failure policy.
 */
export class WebhookFailure extends Error {
  override name = "WebhookFailure";
  readonly uid: string;
  /** Fields of a log line that identify the request. */
  readonly keys: ReviewKeys;

  constructor(request: AdmissionRequest, part: string, cause: unknown) {
    super(withoutUrlCredentials(cause instanceof Error ? cause.message : String(cause)), { cause });
    this.uid = request.uid;
    this.keys = reviewKeys(request, part);
  }
}

/**
 * Handles a review.
 *
 * @param webhook The webhook.
 * @param review The body of the request.
 * @param options The part, the phase and the timeout.
 * @param dependencies The client, the caches and other dependencies of the webhook's context.
 * @throws {BadReview} If the body is not a review for this webhook.
 * @throws {WebhookFailure} If the webhook's function throws anything except a denial, or returns an
 *   invalid value.
 */
export async function admit(
  webhook: Webhook,
  review: unknown,
  options: AdmitOptions,
  dependencies: ReviewDependencies,
): Promise<AdmissionResponse> {
  const request = admissionRequest(review, webhook);
  dependencies.tracing?.addReviewAttributes(attributesOf(request));
  const notes: ReviewNotes = { warnings: [], audit: new Map() };
  const { part, reviewTimeout } = options;
  const context = createReviewContext(webhook, { part, request, notes, reviewTimeout }, dependencies);
  const object = (request.operation === "DELETE" ? request.oldObject : request.object) as Record<string, unknown>;
  try {
    if (options.phase === "mutate") return await mutate(webhook, request, object, context, notes);
    return validationResponse(webhook, request, await webhook.validate!(object, context), notes);
  } catch (error) {
    if (error instanceof Denial) return denyResponse(request, [error], webhook.field, notes);
    throw new WebhookFailure(request, part, error);
  }
}

function attributesOf({ uid, operation, kind, namespace, name }: AdmissionRequest): SpanAttributes {
  return {
    "op.review.uid": uid,
    "op.review.operation": operation,
    "k8s.object.kind": kind.kind,
    ...(name ? { "k8s.object.name": name } : {}),
    ...(namespace ? { "k8s.namespace.name": namespace } : {}),
  };
}

async function mutate(
  webhook: Webhook,
  request: AdmissionRequest,
  object: Record<string, unknown>,
  context: unknown,
  notes: ReviewNotes,
): Promise<AdmissionResponse> {
  const draft = structuredClone(object);
  const result = await webhook.mutate!(draft, context);
  const denials = denialsIn(result, "mutate");
  if (denials.length > 0) return denyResponse(request, denials, webhook.field, notes);
  if (result === undefined || result === draft || Array.isArray(result)) {
    return allowResponse(request.uid, patchOfDraft(object, draft), notes);
  }
  if (typeof result !== "object" || result === null) {
    throw new TypeError(
      `mutate() must return the object, deny() or undefined, got ${JSON.stringify(maskSecrets(result))}`,
    );
  }
  const kind = webhook.subresource === undefined || webhook.subresource === "status" ? webhook.kind : undefined;
  return allowResponse(request.uid, patchOfWanted(object, result as Record<string, unknown>, kind), notes);
}

function validationResponse(
  webhook: Webhook,
  request: AdmissionRequest,
  result: unknown,
  notes: ReviewNotes,
): AdmissionResponse {
  const denials = denialsIn(result, "validate");
  if (denials.length > 0) return denyResponse(request, denials, webhook.field, notes);
  // Any other value is a mistake, which must not allow the request.
  if (result !== undefined && !(Array.isArray(result) && result.length === 0)) {
    throw new TypeError(
      `validate() must return undefined, deny() or a list of denials, got ${JSON.stringify(maskSecrets(result))}`,
    );
  }
  return allowResponse(request.uid, [], notes);
}

function denialsIn(result: unknown, phase: WebhookPhase) {
  const all = Array.isArray(result) ? result : [result];
  const denials = all.filter(isDenial);
  if (Array.isArray(result) && denials.length < result.length) {
    throw new TypeError(`${phase}() must return only denials in a list, got a list with other values`);
  }
  return denials;
}
