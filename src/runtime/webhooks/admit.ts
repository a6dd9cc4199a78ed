/** Answers an AdmissionReview by a user's functions. */
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
import type { Patience } from "./patience.ts";
import { contextOf, keysOf, type ReviewKeys, type Surroundings } from "./review_context.ts";

/** How one review is answered. */
export interface Asking {
  readonly part: string;
  readonly phase: WebhookPhase;
  /** For how long the answer is waited for. */
  readonly patience: Patience;
}

/** A function of the user failed: the API server is told that the call did, and does as the failure policy says. */
export class WebhookFailure extends Error {
  override name = "WebhookFailure";
  readonly uid: string;
  /** What a line of the log says of the request. */
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
 * @param asking How it is asked.
 * @param around What it may use.
 * @throws {BadReview} If the body is no review for it.
 * @throws {WebhookFailure} If its function throws what is no refusal.
 */
export async function admit(
  webhook: Webhook,
  review: unknown,
  asking: Asking,
  around: Surroundings,
): Promise<AdmissionResponse> {
  const request = admissionRequest(review, webhook);
  around.tracing?.tellOfReview(attributesOf(request));
  const gathered: Gathered = { warnings: [], audit: new Map() };
  const { part, patience } = asking;
  const context = contextOf(webhook, { part, request, gathered, patience }, around);
  const object = (request.operation === "DELETE" ? request.oldObject : request.object) as Record<string, unknown>;
  try {
    if (asking.phase === "mutate") return await mutated(webhook, request, object, context, gathered);
    return verdictOf(webhook, request, await webhook.validate!(object, context), gathered);
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
  const faults = faultsIn(answer);
  if (faults.length > 0) return denying(request, faults, webhook.field, gathered);
  if (answer === undefined || answer === draft || Array.isArray(answer)) {
    return allowing(request.uid, patchOfDraft(object, draft), gathered);
  }
  if (typeof answer !== "object" || answer === null) {
    throw new TypeError(`Cannot take what "mutate" answered: ${JSON.stringify(maskSecrets(answer))} is no object`);
  }
  const kind = webhook.subresource === undefined || webhook.subresource === "status" ? webhook.kind : undefined;
  return allowing(request.uid, patchOfWanted(object, answer as Record<string, unknown>, kind), gathered);
}

function verdictOf(
  webhook: Webhook,
  request: AdmissionRequest,
  answer: unknown,
  gathered: Gathered,
): AdmissionResponse {
  const faults = faultsIn(answer);
  if (faults.length > 0) return denying(request, faults, webhook.field, gathered);
  // What is neither nothing nor a refusal is a mistake: it must not be taken for a yes.
  if (answer !== undefined && !(Array.isArray(answer) && answer.length === 0)) {
    throw new TypeError(
      `Cannot take what "validate" answered: ${
        JSON.stringify(maskSecrets(answer))
      } is no refusal: answer nothing, deny(), or a list of them`,
    );
  }
  return allowing(request.uid, [], gathered);
}

function faultsIn(answer: unknown): ReturnType<typeof listOf> {
  return listOf(answer);
}

function listOf(answer: unknown) {
  const all = Array.isArray(answer) ? answer : [answer];
  const faults = all.filter(isFault);
  if (Array.isArray(answer) && faults.length < answer.length) {
    throw new TypeError(`Cannot take what a webhook answered: a list may hold nothing but refusals`);
  }
  return faults;
}
