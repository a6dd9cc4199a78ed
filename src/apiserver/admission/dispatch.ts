/**
 * Calls webhooks for writes
 * (`k8s.io/apiserver/pkg/admission/plugin/webhook/{mutating,validating}`).
 */
import { equal, isObject } from "../../base/json.ts";
import type { User } from "../access/user.ts";
import type { Core } from "../core/core.ts";
import type { Step } from "../core/steps.ts";
import { DecodeError } from "../objects/decode.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { authorizerValue, type Decide, requestResourceValue } from "../webhooks/authorizer.ts";
import { CallError, callWebhook } from "../webhooks/call.ts";
import { meetsConditions } from "../webhooks/conditions.ts";
import { reviewTypeError } from "../webhooks/reply.ts";
import { type Webhook, webhooksOf } from "../webhooks/webhook.ts";
import { notAnObjectError } from "../wire/body.ts";
import { jsonTextError } from "../wire/json_error.ts";
import { applyOperations, jsonType, PatchMismatch } from "../wire/json_patch.ts";
import { badRequest, forbidden, internalError, type StatusDetails, StatusError } from "../wire/status_error.ts";
import { kindFor, type Subject } from "./matching.ts";
import { decodePatchedObject } from "./patched.ts";
import { decodeReview, readResponse, reviewRequest } from "./review.ts";

/** Description of a write that webhooks receive in addition to its objects. */
export interface Write {
  readonly operation: Subject["operation"];
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  /** Name in the path; on create, the name in the body if it has one. */
  readonly name: string;
  readonly subresource: string | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  /** Options of the request as an API object; `null` for connections. */
  readonly options: Readonly<Record<string, unknown>> | null;
  /** Receives the warnings of webhooks. */
  readonly warnings: string[];
}

/** Kinds without webhooks, because one could deny its own removal. */
const EXEMPT = new Set([
  "mutatingwebhookconfigurations",
  "validatingwebhookconfigurations",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
]);

/** Returns whether webhooks may match writes of a kind. */
export function hasWebhooks(core: Core, { group, plural }: ServedKind): boolean {
  if (group === "admissionregistration.k8s.io" && EXEMPT.has(plural)) return false;
  return webhooksOf(core.store, "mutate").length > 0 || webhooksOf(core.store, "validate").length > 0;
}

/**
 * Calls the webhooks for a step of a write.
 *
 * @param core The server.
 * @param write The write.
 * @param step The step.
 * @returns The object to continue with.
 * @throws {StatusError} If a webhook denies the write, or fails and has the failure policy Fail.
 */
export async function callWebhooks(core: Core, write: Write, step: Step): Promise<StoredObject> {
  if (step.phase === "validate") {
    await validate(core, write, step);
    return step.object;
  }
  return await mutate(core, write, step.object, step.old) ?? step.object;
}

/**
 * Calls the webhooks for a deletion.
 *
 * @param core The server.
 * @param write The deletion.
 * @param old The object.
 * @throws {StatusError} If a webhook denies the deletion.
 */
export async function callWebhooksForDeletion(core: Core, write: Write, old: StoredObject): Promise<void> {
  await mutate(core, write, undefined, old);
  await validate(core, write, { old });
}

/**
 * Calls the mutating webhooks one after the other. Webhooks with the reinvocation policy IfNeeded
 * are called again if a later one changed the object.
 */
async function mutate(
  core: Core,
  write: Write,
  first: StoredObject | undefined,
  old: StoredObject | undefined,
): Promise<StoredObject | undefined> {
  let object = first;
  /** Webhooks to call again, since the object has changed after their call. */
  const reinvoked = new Set<Webhook>();
  const invoked = new Set<Webhook>();
  let isChanged = false;
  const round = async (isSecond: boolean) => {
    for (const webhook of webhooksOf(core.store, "mutate")) {
      const subject = { ...write, object, old };
      const kind = matchedKind(core, webhook, write, subject);
      if (kind === undefined || (isSecond && !reinvoked.has(webhook))) continue;
      const changed = await callMutatingWebhook(core, webhook, write, subject, kind);
      if (changed !== undefined && !equal(changed, object)) {
        object = changed;
        isChanged = true;
        for (const before of invoked) reinvoked.add(before);
        invoked.clear();
      }
      if (webhook.reinvocationPolicy === "IfNeeded") invoked.add(webhook);
      reinvoked.delete(webhook);
    }
  };
  await round(false);
  if (isChanged && reinvoked.size > 0) await round(true);
  return object;
}

async function callMutatingWebhook(
  core: Core,
  webhook: Webhook,
  write: Write,
  subject: Subject,
  kind: ServedKind,
): Promise<StoredObject | undefined> {
  const result = await review(core, webhook, write, subject, kind, true);
  if (result?.patch === undefined) return undefined;
  if (result.patchType !== "JSONPatch") {
    return applyFailurePolicy(webhook, `unsupported patch type ${JSON.stringify(result.patchType)}`);
  }
  const error = jsonTextError(result.patch) ?? operationsError(JSON.parse(result.patch));
  if (error !== undefined) {
    return applyFailurePolicy(webhook, `received undecodable patch in webhook response: ${error}`);
  }
  const operations = (JSON.parse(result.patch) ?? []) as readonly unknown[];
  if (operations.length === 0) return undefined;
  if (subject.object === undefined) {
    const detail = "attempted to modify the object, which is not supported for this operation";
    throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${detail}`);
  }
  let patched: unknown;
  try {
    patched = applyOperations(inVersion(subject.object, subject.kind, kind), operations);
  } catch (error) {
    if (!(error instanceof PatchMismatch)) throw error;
    throw internalError(error.message);
  }
  if (!isObject(patched)) {
    throw internalError(`couldn't get version/kind; json parse error: ${notAnObjectError(patched)}`);
  }
  // The object of a subresource has another kind than the resource, so it is not decoded.
  if (subject.object.kind !== subject.kind.kind) return patched as StoredObject;
  return inVersion(decodePatchedObject(kind, patched), kind, subject.kind);
}

/** Returns Go's message for JSON that is not a list of operations. */
function operationsError(operations: unknown): string | undefined {
  const mismatch = (value: unknown, type: string) =>
    `json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`;
  if (!Array.isArray(operations)) return operations === null ? undefined : mismatch(operations, "jsonpatch.Patch");
  const other = operations.find((operation) => operation !== null && !isObject(operation));
  return other === undefined ? undefined : mismatch(other, "jsonpatch.Operation");
}

/** Calls all matching validating webhooks in parallel. Throws the first denial in their order. */
async function validate(
  core: Core,
  write: Write,
  { object, old }: { readonly object?: StoredObject | undefined; readonly old?: StoredObject | undefined },
): Promise<void> {
  const subject: Subject = { ...write, object, old };
  // A created object has its name by now, even if the server generated it.
  const named = { ...write, name: write.name || (write.operation === "CREATE" ? object?.metadata.name ?? "" : "") };
  const matching = webhooksOf(core.store, "validate").flatMap((webhook) => {
    const kind = matchedKind(core, webhook, named, subject);
    return kind === undefined ? [] : [{ webhook, kind }];
  });
  const reviews = matching.map(({ webhook, kind }) => review(core, webhook, named, subject, kind, false));
  for (const result of await Promise.allSettled(reviews)) if (result.status === "rejected") throw result.reason;
}

/**
 * Returns the kind in which a webhook receives the objects of a write; `undefined` if it does not
 * match.
 */
function matchedKind(core: Core, webhook: Webhook, write: Write, subject: Subject): ServedKind | undefined {
  const kind = kindFor(core, webhook, subject);
  if (kind === undefined) return undefined;
  const { object, oldObject } = convertObjects(subject, kind);
  const request = reviewRequest({ ...write, uid: "", subject, kind, object, oldObject });
  const { authorizer } = core.access;
  const decide: Decide = (user, attributes) => authorizer?.decide(user, attributes) ?? { allowed: true, reason: "" };
  const { group, plural: resource } = write.kind;
  const { namespace = "", name, subresource = "" } = write;
  const areConditionsMet = meetsConditions(webhook, {
    object,
    oldObject,
    request,
    authorizer: authorizerValue(decide, write.user),
    requestResource: requestResourceValue(decide, write.user, { group, resource, subresource, namespace, name }),
  });
  if (typeof areConditionsMet === "string") throw forbidden(write.kind, write.name, areConditionsMet);
  return areConditionsMet ? kind : undefined;
}

function convertObjects(subject: Subject, kind: ServedKind): { object: unknown; oldObject: unknown } {
  const converted = (object: StoredObject | undefined) =>
    object === undefined ? undefined : inVersion(object, subject.kind, kind);
  return { object: converted(subject.object), oldObject: converted(subject.old) };
}

/** Converts an object to another version of its kind. */
function inVersion(object: StoredObject, from: ServedKind, to: ServedKind): StoredObject {
  if (from === to || object.kind !== from.kind) return object;
  const stored = from.rules.stored?.(object) ?? object;
  return to.rules.read(stored);
}

async function review(
  core: Core,
  webhook: Webhook,
  write: Write,
  subject: Subject,
  kind: ServedKind,
  isMutating: boolean,
): Promise<Exclude<ReturnType<typeof readResponse>, string> | undefined> {
  if (write.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  }
  const version = webhook.admissionReviewVersions?.find((each) => each === "v1" || each === "v1beta1");
  if (version === undefined) {
    const detail = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    return applyFailurePolicy(webhook, `could not create admission objects: ${detail}`);
  }
  const uid = core.uid();
  const { object, oldObject } = convertObjects(subject, kind);
  const request = reviewRequest({ ...write, uid, subject, kind, object, oldObject });
  let reply: Readonly<Record<string, unknown>>;
  try {
    const sent = { kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request };
    const body = await callWebhook(core.caller, webhook, sent);
    const error = reviewTypeError(body, version);
    if (error !== undefined) throw new CallError(error);
    reply = decodeReview(body, version);
  } catch (error) {
    if (!(error instanceof CallError) && !(error instanceof DecodeError)) throw error;
    return applyFailurePolicy(webhook, `failed to call webhook: ${error.message}`);
  }
  const response = readResponse(reply, uid, version, isMutating);
  if (typeof response === "string") {
    return applyFailurePolicy(webhook, `received invalid webhook response: ${response}`);
  }
  write.warnings.push(...response.warnings);
  if (!response.allowed) throw denialError(webhook, response.result ?? {});
  return response;
}

/**
 * Applies the failure policy to a failed call: returns with Ignore, so that the write continues,
 * and throws a rejection with Fail.
 */
function applyFailurePolicy({ name, failurePolicy }: Webhook, detail: string): undefined {
  if (failurePolicy === "Ignore") return undefined;
  throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${detail}`);
}

/** Returns the error for a write that a webhook denied. */
function denialError({ name }: Webhook, result: Readonly<Record<string, unknown>>): StatusError {
  const { code, message, reason, details } = result;
  const prefix = `admission webhook ${JSON.stringify(name)} denied the request`;
  const explanation = message || reason;
  return new StatusError(
    typeof code === "number" && code >= 400 ? code : 400,
    typeof reason === "string" && reason !== "" ? reason : undefined,
    explanation ? `${prefix}: ${explanation}` : `${prefix} without explanation`,
    details as StatusDetails | undefined,
  );
}
