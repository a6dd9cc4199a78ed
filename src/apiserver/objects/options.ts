/** Parses options of requests from the query or the body. */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, invalid, notSupported, tooLong } from "../../schema/field_error.ts";
import { characterErrors } from "../../schema/metadata_errors.ts";
import { badRequest, invalid as invalidStatus } from "../wire/status_error.ts";
import { decode, DecodeError } from "./decode.ts";
import { builtinSchema } from "./server_schema.ts";

/** Options of a create, update or patch. */
export interface WriteOptions {
  readonly dryRun: boolean;
  /** Name of the manager in `managedFields`. */
  readonly manager: string;
  readonly fieldValidation: "Strict" | "Warn" | "Ignore";
  /** Whether a server-side apply takes over fields of other managers. */
  readonly force: boolean;
}

/** Options of a deletion. */
export interface DeleteOptions {
  readonly dryRun: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

// FieldManagerMaxLength of `k8s.io/apimachinery/pkg/apis/meta/v1/validation`, in bytes.
const MAX_MANAGER_LENGTH = 128;

/**
 * Parses the options of a create, update or patch.
 *
 * @param query The query.
 * @param userAgent The User-Agent header. The part before the first slash is the default manager.
 * @param optionsKind Name of the options in messages, such as `CreateOptions`.
 */
export function writeOptions(query: URLSearchParams, userAgent: string, optionsKind: string): WriteOptions {
  const kind = { group: "meta.k8s.io", kind: optionsKind };
  const fieldValidation = query.get("fieldValidation") || "Warn";
  if (!isFieldValidation(fieldValidation)) {
    const error = notSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]);
    throw invalidStatus(kind, "", [error]);
  }
  const given = query.get("fieldManager") ?? "";
  const errors = managerErrors(given);
  if (errors.length > 0) throw invalidStatus(kind, "", errors);
  const manager = given || userAgent.split("/")[0] || "unknown";
  return {
    dryRun: isDryRun(query.getAll("dryRun"), kind),
    manager: manager.slice(0, MAX_MANAGER_LENGTH),
    fieldValidation,
    force: isTrue(query.get("force")),
  };
}

function managerErrors(manager: string): FieldError[] {
  const isLong = new TextEncoder().encode(manager).length > MAX_MANAGER_LENGTH;
  return [
    ...isLong ? [tooLong("fieldManager", MAX_MANAGER_LENGTH)] : [],
    ...characterErrors(manager, "fieldManager"),
  ];
}

function isFieldValidation(text: string): text is WriteOptions["fieldValidation"] {
  return text === "Strict" || text === "Warn" || text === "Ignore";
}

/** Parses a boolean of a query. The name without a value counts as true. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "false" && text !== "0";
}

function isDryRun(values: readonly string[], kind: { group: string; kind: string }): boolean {
  const requested = values.filter((each) => each !== "");
  if (requested.length === 0) return false;
  if (requested.some((each) => each !== "All")) {
    throw invalidStatus(kind, "", [notSupported("dryRun", requested, ["All"])]);
  }
  return true;
}

/**
 * Parses the options of a deletion: from its body if it has one, otherwise from the query.
 *
 * @param parameters The query.
 * @param body The body as JSON; `undefined` if there is none.
 */
export function deleteOptions(parameters: URLSearchParams, body: unknown): DeleteOptions {
  const kind = { group: "meta.k8s.io", kind: "DeleteOptions" };
  const given = isObject(body) ? body : {};
  // The real server ignores the query if there is a body.
  const query = isObject(body) ? new URLSearchParams() : parameters;
  checkOptionsType(given);
  checkOptionsFields(given);
  const grace = own(given, "gracePeriodSeconds") ?? query.get("gracePeriodSeconds") ?? undefined;
  const policy = own(given, "propagationPolicy") ?? query.get("propagationPolicy") ?? undefined;
  const orphan = own(given, "orphanDependents") ?? query.get("orphanDependents") ?? undefined;
  const dryRun = own(given, "dryRun");
  const preconditions = own(given, "preconditions");
  const seconds = grace === undefined ? undefined : Number(grace);
  if (seconds !== undefined && !Number.isInteger(seconds)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(String(grace))}: invalid syntax`);
  }
  return {
    dryRun: isDryRun(Array.isArray(dryRun) ? dryRun.map(String) : query.getAll("dryRun"), kind),
    ...(seconds !== undefined && { gracePeriodSeconds: seconds }),
    ...policyOf(policy, orphan, kind),
    ...(isObject(preconditions) && { preconditions: preconditions as { uid?: string; resourceVersion?: string } }),
  };
}

/** Checks the kind of the options, which may be absent. */
function checkOptionsType(body: Record<string, unknown>): void {
  const [apiVersion, kind] = [own(body, "apiVersion"), own(body, "kind")];
  if (kind === undefined || kind === "" || kind === "DeleteOptions") return;
  throw badRequest(
    `no kind ${JSON.stringify(kind)} is registered for version ${
      JSON.stringify(apiVersion ?? "")
    } in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function checkOptionsFields(body: Record<string, unknown>): void {
  try {
    decode(builtinSchema(DELETE_OPTIONS), body, []);
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
}

const DELETE_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions";

const POLICIES = ["Foreground", "Background", "Orphan"] as const;

function policyOf(
  policy: unknown,
  orphan: unknown,
  kind: { group: string; kind: string },
): Pick<DeleteOptions, "propagationPolicy"> {
  if (policy !== undefined && orphan !== undefined) {
    const reason = "orphanDependents and deletionPropagation cannot be both set";
    throw invalidStatus(kind, "", [invalid("propagationPolicy", policy, reason)]);
  }
  if (policy === undefined || policy === "") {
    if (orphan === undefined) return {};
    return { propagationPolicy: String(orphan) === "true" ? "Orphan" : "Background" };
  }
  const known = POLICIES.find((each) => each === policy);
  if (known !== undefined) return { propagationPolicy: known };
  throw invalidStatus(kind, "", [notSupported("propagationPolicy", policy, [...POLICIES, "nil"])]);
}
