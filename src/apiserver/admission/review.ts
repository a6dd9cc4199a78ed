/**
 * AdmissionReviews: the request to a webhook, and validation of its response
 * (`.../webhook/request`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type User, userInfo } from "../access/user.ts";
import { decode, DecodeError } from "../objects/decode.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { builtinSchema, type ServerSchema } from "../objects/server_schema.ts";
import { jsonType } from "../wire/json_patch.ts";
import type { Subject } from "./matching.ts";

/** The values from which a review is built. */
export interface ReviewContext {
  readonly uid: string;
  readonly subject: Subject;
  /** The kind in which the webhook receives the objects. */
  readonly kind: ServedKind;
  readonly name: string;
  readonly user: User;
  readonly dryRun: boolean;
  readonly options: unknown;
  /** The objects in that kind. */
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** Returns `request` of a review. */
export function reviewRequest(context: ReviewContext): Record<string, unknown> {
  const { uid, subject, kind, name, user, dryRun, options, object, oldObject } = context;
  const { subresource, namespace, operation } = subject;
  return {
    uid,
    ...kindsOf(kind, subresource, { kind: "kind", resource: "resource", subResource: "subResource" }),
    ...kindsOf(subject.kind, subresource, {
      kind: "requestKind",
      resource: "requestResource",
      subResource: "requestSubResource",
    }),
    ...(name !== "" && { name }),
    ...(namespace !== undefined && { namespace }),
    operation,
    userInfo: userInfo(user),
    object: object ?? null,
    oldObject: oldObject ?? null,
    dryRun,
    options,
  };
}

function kindsOf(
  served: ServedKind,
  subresource: string | undefined,
  names: { readonly kind: string; readonly resource: string; readonly subResource: string },
): Record<string, unknown> {
  const part = served.subresources.find(({ name }) => name === subresource) ?? served;
  return {
    [names.kind]: { group: part.group, version: part.version, kind: part.kind },
    [names.resource]: { group: served.group, version: served.version, resource: served.plural },
    ...(subresource !== undefined && { [names.subResource]: subresource }),
  };
}

/** The response of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly result: Readonly<Record<string, unknown>> | undefined;
  /** A JSON patch as a string of bytes. */
  readonly patch: string | undefined;
  readonly patchType: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * Checks the types of the fields of a reply, as Go's decoder does.
 *
 * @param reply The body of the reply.
 * @param version Version of the review that was sent.
 * @throws {DecodeError} If a type does not fit.
 */
export function decodeReview(
  reply: Readonly<Record<string, unknown>>,
  version: "v1" | "v1beta1",
): Readonly<Record<string, unknown>> {
  const response = own(reply, "response");
  for (const [key, type] of Object.entries({ uid: "types.UID", patchType: `${version}.PatchType` })) {
    const value = isObject(response) ? own(response, key) ?? "" : "";
    if (typeof value === "string") continue;
    const field = `AdmissionResponse.response.${key}`;
    throw new DecodeError(`json: cannot unmarshal ${jsonType(value)} into Go struct field ${field} of type ${type}`);
  }
  return decode(reviewSchema(version), reply, []) as Readonly<Record<string, unknown>>;
}

const TEXT: ServerSchema = { type: "string" };

/** Returns the schema of the parts of a review that a reply contains (`k8s.io/api/admission`). */
function reviewSchema(version: string): ServerSchema {
  return {
    definition: `admission.${version}.AdmissionReview`,
    type: "object",
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      response: {
        definition: `admission.${version}.AdmissionResponse`,
        type: "object",
        properties: {
          uid: TEXT,
          allowed: { type: "boolean" },
          status: builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.Status"),
          patch: { type: "string", format: "byte" },
          patchType: TEXT,
          auditAnnotations: { type: "object", additionalProperties: TEXT },
          warnings: { type: "array", items: TEXT },
        },
      },
    },
  };
}

/**
 * Reads the reply of a webhook.
 *
 * @param review The reply, as {@linkcode decodeReview} returns it.
 * @param uid Uid of the review that was sent.
 * @param version Version of the review that was sent.
 * @param isMutating Whether the webhook may return a patch.
 * @returns The response, or an error message if it is invalid.
 */
export function readResponse(
  review: Readonly<Record<string, unknown>>,
  uid: string,
  version: string,
  isMutating: boolean,
): ReviewResponse | string {
  const response = own(review, "response");
  if (!isObject(response)) return "webhook response was absent";
  const patch = text(own(response, "patch"));
  const patchType = own(response, "patchType") as string | undefined;
  if (version === "v1") {
    const error = responseError(review, response, uid, { patch, patchType, isMutating });
    if (error !== undefined) return error;
  }
  const warnings = own(response, "warnings");
  const result = own(response, "status");
  return {
    allowed: own(response, "allowed") === true,
    result: isObject(result) ? result : undefined,
    patch: patch === "" ? undefined : atob(patch),
    patchType: version === "v1" ? patchType : "JSONPatch",
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
}

function responseError(
  review: Readonly<Record<string, unknown>>,
  response: Readonly<Record<string, unknown>>,
  uid: string,
  { patch, patchType, isMutating }: { patch: string; patchType: string | undefined; isMutating: boolean },
): string | undefined {
  const given = text(own(response, "uid"));
  if (given !== uid) return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`;
  const [apiVersion, kind] = [text(own(review, "apiVersion")), text(own(review, "kind"))];
  if (apiVersion !== "admission.k8s.io/v1" || kind !== "AdmissionReview") {
    const got = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
    return `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${got}`;
  }
  if (!isMutating) {
    if (patch !== "") return "validating webhook may not return response.patch";
    return patchType === undefined ? undefined : "validating webhook may not return response.patchType";
  }
  if (patch !== "" && patchType === undefined) return "webhook returned response.patch but not response.patchType";
  if (patch === "" && patchType !== undefined) return "webhook returned response.patchType but not response.patch";
  return patchType === "" ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
