/** Asks the webhooks about a write (`k8s.io/apiserver/pkg/admission/plugin/webhook/{mutating,validating}`). */
import { equal, isObject } from "../../base/json.ts";
import type { User } from "../access/user.ts";
import type { Core } from "../core/core.ts";
import type { Step } from "../core/steps.ts";
import { DecodeError } from "../objects/decode.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { StoredObject } from "../objects/objects.ts";
import { authorizerValue, type Decide, requestResourceValue } from "../webhooks/authorizer.ts";
import { CallError, callWebhook } from "../webhooks/call.ts";
import { holds } from "../webhooks/conditions.ts";
import { reviewTypeFault } from "../webhooks/reply.ts";
import { type Webhook, webhooksOf } from "../webhooks/webhook.ts";
import { untypedFault } from "../wire/body.ts";
import { jsonTextFault } from "../wire/json_fault.ts";
import { applyOperations, jsonType, Misfit } from "../wire/json_patch.ts";
import { badRequest, forbidden, internalError, type StatusDetails, StatusError } from "../wire/status_error.ts";
import { kindFor, type Subject } from "./matching.ts";
import { decodePatchedObject } from "./patched.ts";
import { decodeReview, readVerdict, reviewRequest } from "./review.ts";

/** What webhooks are told of a write besides its objects. */
export interface Write {
  readonly operation: Subject["operation"];
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  /** As the request has it: that of a create is in its body, if it has one. */
  readonly name: string;
  readonly subresource: string | undefined;
  readonly user: User;
  readonly dryRun: boolean;
  /** The options of the request, as the API has them; a connection has none. */
  readonly options: Readonly<Record<string, unknown>> | null;
  /** Takes what webhooks warn of. */
  readonly warnings: string[];
}

/** Kinds about which no webhook is asked: one could forbid that it is taken away. */
const EXEMPT = new Set([
  "mutatingwebhookconfigurations",
  "validatingwebhookconfigurations",
  "mutatingadmissionpolicies",
  "mutatingadmissionpolicybindings",
  "validatingadmissionpolicies",
  "validatingadmissionpolicybindings",
]);

/** Whether any webhook may have to be asked about a write of a kind. */
export function hasWebhooks(core: Core, { group, plural }: ServedKind): boolean {
  if (group === "admissionregistration.k8s.io" && EXEMPT.has(plural)) return false;
  return webhooksOf(core.store, "mutate").length > 0 || webhooksOf(core.store, "validate").length > 0;
}

/**
 * Asks the webhooks about a step of a write.
 *
 * @param core The server.
 * @param write What is written.
 * @param step How far it is.
 * @returns The object to go on with.
 * @throws {StatusError} If one refuses, or could not be asked and must be.
 */
export async function askWebhooks(core: Core, write: Write, step: Step): Promise<StoredObject> {
  if (step.phase === "validate") {
    await validate(core, write, step);
    return step.object;
  }
  return await mutate(core, write, step.object, step.old) ?? step.object;
}

/**
 * Asks the webhooks about a deletion.
 *
 * @param core The server.
 * @param write What is deleted.
 * @param old The object.
 * @throws {StatusError} If one refuses.
 */
export async function askAboutDeletion(core: Core, write: Write, old: StoredObject): Promise<void> {
  await mutate(core, write, undefined, old);
  await validate(core, write, { old });
}

/** Lets the webhooks change an object, each in its turn; those that ask for it once more when it was changed after them. */
async function mutate(
  core: Core,
  write: Write,
  first: StoredObject | undefined,
  old: StoredObject | undefined,
): Promise<StoredObject | undefined> {
  let object = first;
  /** Webhooks to be asked again: something was changed since. */
  const again = new Set<Webhook>();
  const invoked = new Set<Webhook>();
  let isChanged = false;
  const round = async (isSecond: boolean) => {
    for (const webhook of webhooksOf(core.store, "mutate")) {
      const subject = { ...write, object, old };
      const kind = asked(core, webhook, write, subject);
      if (kind === undefined || (isSecond && !again.has(webhook))) continue;
      const changed = await change(core, webhook, write, subject, kind);
      if (changed !== undefined && !equal(changed, object)) {
        object = changed;
        isChanged = true;
        for (const before of invoked) again.add(before);
        invoked.clear();
      }
      if (webhook.reinvocationPolicy === "IfNeeded") invoked.add(webhook);
      again.delete(webhook);
    }
  };
  await round(false);
  if (isChanged && again.size > 0) await round(true);
  return object;
}

async function change(
  core: Core,
  webhook: Webhook,
  write: Write,
  subject: Subject,
  kind: ServedKind,
): Promise<StoredObject | undefined> {
  const verdict = await ask(core, webhook, write, subject, kind, true);
  if (verdict?.patch === undefined) return undefined;
  if (verdict.patchType !== "JSONPatch") {
    return failed(webhook, `unsupported patch type ${JSON.stringify(verdict.patchType)}`);
  }
  const fault = jsonTextFault(verdict.patch) ?? operationsFault(JSON.parse(verdict.patch));
  if (fault !== undefined) return failed(webhook, `received undecodable patch in webhook response: ${fault}`);
  const operations = (JSON.parse(verdict.patch) ?? []) as readonly unknown[];
  if (operations.length === 0) return undefined;
  if (subject.object === undefined) {
    const why = "attempted to modify the object, which is not supported for this operation";
    throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${why}`);
  }
  let patched: unknown;
  try {
    patched = applyOperations(inVersion(subject.object, subject.kind, kind), operations);
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw internalError(error.message);
  }
  if (!isObject(patched)) throw internalError(`couldn't get version/kind; json parse error: ${untypedFault(patched)}`);
  // What a subresource has for an object is of another kind.
  if (subject.object.kind !== subject.kind.kind) return patched as StoredObject;
  return inVersion(decodePatchedObject(kind, patched), kind, subject.kind);
}

/** What Go says of JSON that is no list of operations. */
function operationsFault(operations: unknown): string | undefined {
  const refused = (value: unknown, type: string) =>
    `json: cannot unmarshal ${jsonType(value)} into Go value of type ${type}`;
  if (!Array.isArray(operations)) return operations === null ? undefined : refused(operations, "jsonpatch.Patch");
  const other = operations.find((operation) => operation !== null && !isObject(operation));
  return other === undefined ? undefined : refused(other, "jsonpatch.Operation");
}

/** Asks all that are to be asked at once; the first refusal in their order is told. */
async function validate(
  core: Core,
  write: Write,
  { object, old }: { readonly object?: StoredObject | undefined; readonly old?: StoredObject | undefined },
): Promise<void> {
  const subject: Subject = { ...write, object, old };
  // By now a create has its name, be it that the server made it.
  const named = { ...write, name: write.name || (write.operation === "CREATE" ? object?.metadata.name ?? "" : "") };
  const chosen = webhooksOf(core.store, "validate").flatMap((webhook) => {
    const kind = asked(core, webhook, named, subject);
    return kind === undefined ? [] : [{ webhook, kind }];
  });
  const asking = chosen.map(({ webhook, kind }) => ask(core, webhook, named, subject, kind, false));
  for (const result of await Promise.allSettled(asking)) if (result.status === "rejected") throw result.reason;
}

/** The kind in which a webhook is told of a write; undefined if it is not asked. */
function asked(core: Core, webhook: Webhook, write: Write, subject: Subject): ServedKind | undefined {
  const kind = kindFor(core, webhook, subject);
  if (kind === undefined) return undefined;
  const { object, oldObject } = objectsIn(subject, kind);
  const request = reviewRequest({ ...write, uid: "", subject, kind, object, oldObject });
  const { authorizer } = core.access;
  const decide: Decide = (user, attributes) => authorizer?.decide(user, attributes) ?? { allowed: true, reason: "" };
  const { group, plural: resource } = write.kind;
  const { namespace = "", name, subresource = "" } = write;
  const met = holds(webhook, {
    object,
    oldObject,
    request,
    authorizer: authorizerValue(decide, write.user),
    requestResource: requestResourceValue(decide, write.user, { group, resource, subresource, namespace, name }),
  });
  if (typeof met === "string") throw forbidden(write.kind, write.name, met);
  return met ? kind : undefined;
}

function objectsIn(subject: Subject, kind: ServedKind): { object: unknown; oldObject: unknown } {
  const told = (object: StoredObject | undefined) =>
    object === undefined ? undefined : inVersion(object, subject.kind, kind);
  return { object: told(subject.object), oldObject: told(subject.old) };
}

/** An object of a kind in another version of it. */
function inVersion(object: StoredObject, from: ServedKind, to: ServedKind): StoredObject {
  if (from === to || object.kind !== from.kind) return object;
  const kept = from.rules.stored?.(object) ?? object;
  return to.rules.read(kept);
}

async function ask(
  core: Core,
  webhook: Webhook,
  write: Write,
  subject: Subject,
  kind: ServedKind,
  isMutating: boolean,
): Promise<Exclude<ReturnType<typeof readVerdict>, string> | undefined> {
  if (write.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`);
  }
  const version = webhook.admissionReviewVersions?.find((each) => each === "v1" || each === "v1beta1");
  if (version === undefined) {
    const why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    return failed(webhook, `could not create admission objects: ${why}`);
  }
  const uid = core.uid();
  const { object, oldObject } = objectsIn(subject, kind);
  const request = reviewRequest({ ...write, uid, subject, kind, object, oldObject });
  let answer: Readonly<Record<string, unknown>>;
  try {
    const review = { kind: "AdmissionReview", apiVersion: `admission.k8s.io/${version}`, request };
    const reply = await callWebhook(core.caller, webhook, review);
    const fault = reviewTypeFault(reply, version);
    if (fault !== undefined) throw new CallError(fault);
    answer = decodeReview(reply, version);
  } catch (error) {
    if (!(error instanceof CallError) && !(error instanceof DecodeError)) throw error;
    return failed(webhook, `failed to call webhook: ${error.message}`);
  }
  const verdict = readVerdict(answer, uid, version, isMutating);
  if (typeof verdict === "string") return failed(webhook, `received invalid webhook response: ${verdict}`);
  write.warnings.push(...verdict.warnings);
  if (!verdict.allowed) throw denied(webhook, verdict.result ?? {});
  return verdict;
}

/** A webhook that could not be asked: the write goes on without it, or is refused. */
function failed({ name, failurePolicy }: Webhook, why: string): undefined {
  if (failurePolicy === "Ignore") return undefined;
  throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${why}`);
}

/** The refusal by a webhook, with what it says. */
function denied({ name }: Webhook, result: Readonly<Record<string, unknown>>): StatusError {
  const { code, message, reason, details } = result;
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const told = message || reason;
  return new StatusError(
    typeof code === "number" && code >= 400 ? code : 400,
    typeof reason === "string" && reason !== "" ? reason : undefined,
    told ? `${by}: ${told}` : `${by} without explanation`,
    details as StatusDetails | undefined,
  );
}
