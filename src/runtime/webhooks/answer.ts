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

/** Warnings and audit annotations that a function added while it ran. */
export interface Gathered {
  readonly warnings: string[];
  readonly audit: Map<string, string>;
}

/**
 * Returns a response that allows the request.
 *
 * @param uid The request's UID.
 * @param steps The JSON patch; empty if nothing changes.
 * @param gathered Warnings and audit annotations.
 */
export function allowing(uid: string, steps: readonly JsonPatchOperation[], gathered: Gathered): AdmissionResponse {
  return {
    uid,
    allowed: true,
    ...(steps.length === 0 ? {} : {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(steps)).toString("base64"),
    }),
    ...gatheredFields(gathered),
  };
}

/**
 * Returns a response that rejects the request. Errors of fields are reported as the API server
 * reports its own: one status with a cause for each.
 *
 * @param request The request.
 * @param faults The errors; at least one.
 * @param field The field that the webhook validates, if it validates a single one.
 * @param gathered Warnings and audit annotations.
 */
export function denying(
  request: AdmissionRequest,
  faults: readonly (Denial | FieldError)[],
  field: string | undefined,
  gathered: Gathered,
): AdmissionResponse {
  const causes = faults.flatMap((fault) => causeOf(fault, field));
  const plain = faults.filter((fault) => causeOf(fault, field).length === 0);
  const status = causes.length === faults.length
    ? invalid(request, causes, statusOf(faults))
    : refused([...plain.map(({ message }) => message), ...causes.map(inWords)], statusOf(faults));
  return { uid: request.uid, allowed: false, status, ...gatheredFields(gathered) };
}

/**
 * Returns whether a value that a function returned rejects the request.
 *
 * @param value The value.
 */
export function isFault(value: unknown): value is Denial | FieldError {
  if (value instanceof Denial) return true;
  const { reason, field, message } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof value === "object" && [reason, field, message].every((text) => typeof text === "string");
}

type Cause = NonNullable<Status["details"]>["causes"][number];

function causeOf(fault: Denial | FieldError, own: string | undefined): Cause[] {
  if (!(fault instanceof Denial)) return [{ reason: fault.reason, message: fault.message, field: fault.field }];
  const field = fault.field ?? own?.slice(1);
  // A denial with a status of its own does not say that the object is invalid.
  if (field === undefined || (fault.field === undefined && fault.status !== 403)) return [];
  return [{ reason: "FieldValueInvalid", message: fault.message, field }];
}

function inWords({ field, message }: Cause): string {
  return `${field}: ${message}`;
}

/** Returns the first status that a function chose, or `undefined` for the default. */
function statusOf(faults: readonly (Denial | FieldError)[]): number | undefined {
  const chosen = faults.flatMap((fault) =>
    fault instanceof Denial && ![403, 422].includes(fault.status) ? [fault] : []
  );
  return chosen[0]?.status;
}

function invalid({ kind, name }: AdmissionRequest, causes: readonly Cause[], code = 422): Status {
  const words = causes.map(inWords);
  const all = words.length === 1 ? words[0] : `[${words.join(", ")}]`;
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

function refused(messages: readonly string[], code = 403): Status {
  const reason = REASONS[code];
  return { status: "Failure", message: messages.join("; "), ...(reason === undefined ? {} : { reason }), code };
}

function gatheredFields({ warnings, audit }: Gathered): Pick<AdmissionResponse, "warnings" | "auditAnnotations"> {
  return {
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(audit.size === 0 ? {} : { auditAnnotations: Object.fromEntries(audit) }),
  };
}
