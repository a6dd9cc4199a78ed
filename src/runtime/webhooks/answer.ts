/** From what a webhook's function answered to the response of the review. */
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
  /** Base64. */
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

/** Warnings and lines for the audit log, gathered while a function runs. */
export interface Gathered {
  readonly warnings: string[];
  readonly audit: Map<string, string>;
}

/** Allows it, with what was gathered. */
export function allowing(uid: string, steps: readonly JsonPatchOperation[], gathered: Gathered): AdmissionResponse {
  return {
    uid,
    allowed: true,
    ...(steps.length === 0 ? {} : {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(steps)).toString("base64"),
    }),
    ...told(gathered),
  };
}

/**
 * Refuses it. Faults of fields are told as the server tells its own: one status with a cause for each.
 *
 * @param request What was asked.
 * @param faults What is wrong; one at least.
 * @param field The field that the webhook is about, if it is about one only.
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
  return { uid: request.uid, allowed: false, status, ...told(gathered) };
}

/** Whether what a function answered is a refusal. */
export function isFault(value: unknown): value is Denial | FieldError {
  if (value instanceof Denial) return true;
  const { reason, field, message } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof value === "object" && [reason, field, message].every((text) => typeof text === "string");
}

type Cause = NonNullable<Status["details"]>["causes"][number];

function causeOf(fault: Denial | FieldError, own: string | undefined): Cause[] {
  if (!(fault instanceof Denial)) return [{ reason: fault.reason, message: fault.message, field: fault.field }];
  const field = fault.field ?? own?.slice(1);
  // A refusal with a status of its own is not about whether the object is valid.
  if (field === undefined || (fault.field === undefined && fault.code !== 403)) return [];
  return [{ reason: "FieldValueInvalid", message: fault.message, field }];
}

function inWords({ field, message }: Cause): string {
  return `${field}: ${message}`;
}

/** The first status that was chosen; that of invalid objects where all are faults of fields. */
function statusOf(faults: readonly (Denial | FieldError)[]): number | undefined {
  const chosen = faults.flatMap((fault) => fault instanceof Denial && ![403, 422].includes(fault.code) ? [fault] : []);
  return chosen[0]?.code;
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

/** Reasons that a client can tell apart by their status (`k8s.io/apimachinery/pkg/apis/meta/v1`, StatusReason). */
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

function told({ warnings, audit }: Gathered): Pick<AdmissionResponse, "warnings" | "auditAnnotations"> {
  return {
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(audit.size === 0 ? {} : { auditAnnotations: Object.fromEntries(audit) }),
  };
}
