/** Converts the result of a webhook's function to the response of the review. */
import { Buffer } from "node:buffer";
import type { JsonPatchOperation } from "../../base/json_patch.ts";
import { Denial } from "../../parts/denial.ts";
import type { AdmissionRequest } from "../../parts/webhook_context.ts";
import type { FieldError } from "../../schema/mod.ts";

/** `response` of an AdmissionReview. */
export interface AdmissionResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: Status;
  readonly patchType?: "JSONPatch";
  /** The JSON patch, in base64. */
  readonly patch?: string;
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: { readonly [key: string]: string };
}

interface Status {
  readonly status: "Failure";
  readonly message: string;
  readonly reason?: string;
  readonly code: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
  };
}

/** Warnings and audit annotations that a webhook function added. */
export interface ReviewNotes {
  readonly warnings: string[];
  readonly audit: Map<string, string>;
}

/**
 * Returns a response that allows the request.
 *
 * @param uid The request's UID.
 * @param steps The JSON patch; empty if nothing changes.
 * @param notes Warnings and audit annotations.
 */
export function allowResponse(
  uid: string,
  steps: readonly JsonPatchOperation[],
  notes: ReviewNotes,
): AdmissionResponse {
  return {
    uid,
    allowed: true,
    ...(steps.length === 0 ? {} : {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(steps)).toString("base64"),
    }),
    ...noteFields(notes),
  };
}

/**
 * Returns a response that rejects the request. Errors of fields are reported like those of the API
 * server itself: one status with a cause for each field.
 *
 * @param request The request.
 * @param denials The denials and field errors; at least one.
 * @param field The field that the webhook validates, if it validates a single one.
 * @param notes Warnings and audit annotations.
 */
export function denyResponse(
  request: AdmissionRequest,
  denials: readonly (Denial | FieldError)[],
  field: string | undefined,
  notes: ReviewNotes,
): AdmissionResponse {
  const causes = denials.flatMap((denial) => causesOf(denial, field));
  const plain = denials.filter((denial) => causesOf(denial, field).length === 0);
  const status = causes.length === denials.length
    ? invalidStatus(request, causes, statusOf(denials))
    : deniedStatus([...plain.map(({ message }) => message), ...causes.map(describeCause)], statusOf(denials));
  return { uid: request.uid, allowed: false, status, ...noteFields(notes) };
}

/**
 * Returns whether a value that a function returned rejects the request.
 *
 * @param value The value.
 */
export function isDenial(value: unknown): value is Denial | FieldError {
  if (value instanceof Denial) return true;
  const { reason, field, message } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof value === "object" && [reason, field, message].every((text) => typeof text === "string");
}

type Cause = NonNullable<Status["details"]>["causes"][number];

function causesOf(denial: Denial | FieldError, own: string | undefined): Cause[] {
  if (!(denial instanceof Denial)) return [{ reason: denial.reason, message: denial.message, field: denial.field }];
  const field = denial.field ?? own?.slice(1);
  // A denial with a status other than the default 403 does not mean that the field is invalid,
  // unless the denial names a field.
  if (field === undefined || (denial.field === undefined && denial.status !== 403)) return [];
  return [{ reason: "FieldValueInvalid", message: denial.message, field }];
}

function describeCause({ field, message }: Cause): string {
  return `${field}: ${message}`;
}

/** Returns the first non-default status of the denials, or `undefined` if there is none. */
function statusOf(denials: readonly (Denial | FieldError)[]): number | undefined {
  const chosen = denials.flatMap((denial) =>
    denial instanceof Denial && ![403, 422].includes(denial.status) ? [denial] : []
  );
  return chosen[0]?.status;
}

function invalidStatus({ kind, name }: AdmissionRequest, causes: readonly Cause[], code = 422): Status {
  const messages = causes.map(describeCause);
  const all = messages.length === 1 ? messages[0] : `[${messages.join(", ")}]`;
  const { group } = kind;
  return {
    status: "Failure",
    message: `${kind.kind}${group === "" ? "" : `.${group}`} ${JSON.stringify(name ?? "")} is invalid: ${all}`,
    reason: "Invalid",
    code,
    details: { name: name ?? "", group, kind: kind.kind, causes },
  };
}

/** The reason of each status code (`k8s.io/apimachinery/pkg/apis/meta/v1`, StatusReason). */
const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Gone",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
};

function deniedStatus(messages: readonly string[], code = 403): Status {
  const reason = REASONS[code];
  return { status: "Failure", message: messages.join("; "), ...(reason === undefined ? {} : { reason }), code };
}

function noteFields({ warnings, audit }: ReviewNotes): Pick<AdmissionResponse, "warnings" | "auditAnnotations"> {
  return {
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(audit.size === 0 ? {} : { auditAnnotations: Object.fromEntries(audit) }),
  };
}
