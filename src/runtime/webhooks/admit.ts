/** Answers an AdmissionReview with a webhook's functions. */
import { withoutUrlCredentials } from "../../base/url_credentials.ts";
import { maskSecrets } from "../../base/mask_secrets.ts";
import { Denial } from "../../parts/denial.ts";
import type { Webhook } from "../../parts/webhook.ts";
import type { AdmissionRequest } from "../../parts/webhook_context.ts";
import type { WebhookPhase } from "../../parts/webhook_entries.ts";
import type { SpanAttributes } from "../tracing.ts";
import { type AdmissionResponse, allowing, denying, type Gathered, isFault } from "./answer.ts";
import { admissionRequest } from "./bad_review.ts";
import { patchOfDraft, patchOfWanted } from "./patch.ts";
import type { ReviewTimeout } from "./review_timeout.ts";
import { contextOf, keysOf, type ReviewKeys, type Surroundings } from "./review_context.ts";

/** Options of {@linkcode admit}. */
export interface AdmitOptions {
  /** Name of the part. */
  readonly part: string;
  readonly phase: WebhookPhase;
  /** Ends when the API server no longer waits for the answer. */
  readonly reviewTimeout: ReviewTimeout;
}

/**
 * Thrown when a webhook's function fails. The call fails, and the API server applies the webhook's
 * failure policy.
 */
export class WebhookFailure extends Error {
  override name = "WebhookFailure";
  readonly uid: string;
  /** Fields of a log line that identify the request. */
  readonly keys: ReviewKeys;

  constructor(request: AdmissionRequest, part: string, cause: unknown) {
    super(withoutUrlCredentials(cause instanceof Error ? cause.message : String(cause)), { cause });
    this.uid = request.uid;
    this.keys = keysOf(request, part);
  }
}

/**
 * Answers a review.
 *
 * @param webhook The webhook.
 * @param review The body of the request.
 * @param options The part, the phase, and how long the API server waits.
 * @param around The client, caches and other things that the webhook's context uses.
 * @throws {BadReview} If the body is not a review for this webhook.
 * @throws {WebhookFailure} If the webhook's function throws anything except a denial, or returns an
 *   invalid value.
 */
export async function admit(
  webhook: Webhook,
  review: unknown,
  options: AdmitOptions,
  around: Surroundings,
): Promise<AdmissionResponse> {
  const request = admissionRequest(review, webhook);
  around.tracing?.addReviewAttributes(attributesOf(request));
  const gathered: Gathered = { warnings: [], audit: new Map() };
  const { part, reviewTimeout } = options;
  const context = contextOf(webhook, { part, request, gathered, reviewTimeout }, around);
  const object = (request.operation === "DELETE" ? request.oldObject : request.object) as Record<string, unknown>;
  try {
    if (options.phase === "mutate") return await mutated(webhook, request, object, context, gathered);
    return validated(webhook, request, await webhook.validate!(object, context), gathered);
  } catch (error) {
    if (error instanceof Denial) return denying(request, [error], webhook.field, gathered);
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

async function mutated(
  webhook: Webhook,
  request: AdmissionRequest,
  object: Record<string, unknown>,
  context: unknown,
  gathered: Gathered,
): Promise<AdmissionResponse> {
  const draft = structuredClone(object);
  const answer = await webhook.mutate!(draft, context);
  const faults = faultsIn(answer, "mutate");
  if (faults.length > 0) return denying(request, faults, webhook.field, gathered);
  if (answer === undefined || answer === draft || Array.isArray(answer)) {
    return allowing(request.uid, patchOfDraft(object, draft), gathered);
  }
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError(
      `mutate() must return the object, deny() or undefined, got ${JSON.stringify(maskSecrets(answer))}`,
    );
  }
  const kind = webhook.subresource === undefined || webhook.subresource === "status" ? webhook.kind : undefined;
  return allowing(request.uid, patchOfWanted(object, answer as Record<string, unknown>, kind), gathered);
}

function validated(
  webhook: Webhook,
  request: AdmissionRequest,
  answer: unknown,
  gathered: Gathered,
): AdmissionResponse {
  const faults = faultsIn(answer, "validate");
  if (faults.length > 0) return denying(request, faults, webhook.field, gathered);
  // Any other value is a mistake, which must not allow the request.
  if (answer !== undefined && !(Array.isArray(answer) && answer.length === 0)) {
    throw new TypeError(
      `validate() must return undefined, deny() or a list of denials, got ${JSON.stringify(maskSecrets(answer))}`,
    );
  }
  return allowing(request.uid, [], gathered);
}

function faultsIn(answer: unknown, phase: WebhookPhase) {
  const all = Array.isArray(answer) ? answer : [answer];
  const faults = all.filter(isFault);
  if (Array.isArray(answer) && faults.length < answer.length) {
    throw new TypeError(`${phase}() must return only denials in a list, got a list with other values`);
  }
  return faults;
}
