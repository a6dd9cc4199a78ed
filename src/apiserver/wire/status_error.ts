/** Errors as `Status` objects (`k8s.io/apimachinery/pkg/api/errors`). */
import { quoted } from "../../base/quoted.ts";
import type { FieldError } from "../../schema/field_error.ts";

/** One entry of `details.causes`. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** `details` of a Status. */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The kind or the plural name of the resource. The API uses both. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A `Status` object, v1. */
export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Record<string, unknown>;
  readonly status: "Success" | "Failure";
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** An error with the status code and `Status` object of a response. */
export class StatusError extends Error {
  override name = "StatusError";
  readonly code: number;
  readonly reason: string | undefined;
  readonly details: StatusDetails | undefined;

  /**
   * @param code The HTTP status.
   * @param reason The reason; some Status objects have none.
   * @param message The message.
   * @param details The details.
   */
  constructor(code: number, reason: string | undefined, message: string, details?: StatusDetails) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** Body of the response. */
  get status(): Status {
    return {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: this.message.toWellFormed(),
      ...(this.reason !== undefined && { reason: this.reason }),
      ...(this.details !== undefined && { details: this.details }),
      code: this.code,
    };
  }
}

/** A resource in messages and details. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

/** A kind in messages and details. */
export interface KindName {
  readonly group: string;
  readonly kind: string;
}

function details(resource: ResourceName, name: string): StatusDetails {
  return {
    ...(name !== "" && { name: name.toWellFormed() }),
    ...(resource.group !== "" && { group: resource.group }),
    kind: resource.plural,
  };
}

/** Returns the plural name with its group: `deployments.apps`. */
export function qualified(resource: ResourceName): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(404, "NotFound", `${qualified(resource)} ${quoted(name)} not found`, details(resource, name));
}

/** Returns the error for a path without a served kind. */
export function resourceNotFound(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

export function alreadyExists(resource: ResourceName, name: string): StatusError {
  return new StatusError(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists`,
    details(resource, name),
  );
}

export function conflict(resource: ResourceName, name: string, detail: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${detail}`;
  return new StatusError(409, "Conflict", message, details(resource, name));
}

/** Returns the error for a write that is based on an older resourceVersion. */
export function modified(resource: ResourceName, name: string): StatusError {
  const detail = "the object has been modified; please apply your changes to the latest version and try again";
  return conflict(resource, name, detail);
}

/** Returns the error for a server-side apply with conflicts. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return new StatusError(409, "Conflict", message, { causes });
}

export function forbidden(
  resource: ResourceName,
  name: string,
  detail: string,
  causes?: readonly StatusCause[],
): StatusError {
  const subject = name === "" ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return new StatusError(403, "Forbidden", `${subject} is forbidden: ${detail}`, {
    ...details(resource, name),
    ...(causes && { causes }),
  });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

export function invalid(kind: KindName, name: string, errors: readonly FieldError[]): StatusError {
  const full = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const seen = new Set<string>();
  const messages = errors.map(({ field, message }) => `${field}: ${message}`).filter((text) =>
    !seen.has(text) && seen.add(text)
  );
  const message = messages.length === 1 ? messages[0] : `[${messages.join(", ")}]`;
  return new StatusError(422, "Invalid", `${full} "${name}" is invalid: ${message}`, {
    ...(name !== "" && { name }),
    ...(kind.group !== "" && { group: kind.group }),
    ...(kind.kind !== "" && { kind: kind.kind }),
    causes: errors.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

export function methodNotSupported(resource: ResourceName, verb: string): StatusError {
  const message = `${verb} is not supported on resources of kind "${qualified(resource)}"`;
  return new StatusError(405, "MethodNotAllowed", message, details(resource, ""));
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${
    accepted.join(", ")
  }`;
  return new StatusError(415, "UnsupportedMediaType", message);
}

/**
 * Returns the error for a patch of a built-in kind in an unknown format, which the router of the
 * real server rejects.
 */
export function unsupportedPatch(): StatusError {
  return new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/**
 * Returns the error for an Accept header without a supported format.
 *
 * @param isBuiltin Whether the kind is built-in, which changes the message.
 * @param isList Whether the request is a list or watch.
 */
export function notAcceptable(isBuiltin: boolean, isList: boolean): StatusError {
  const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
  if (!isBuiltin) {
    return new StatusError(406, "NotAcceptable", `only the following media types are accepted: ${types.join(", ")}`);
  }
  const streams = isList ? ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"] : [];
  const message = `406: Not Acceptable\n\nAvailable representations: ${[...types, ...streams].join(", ")}`;
  return new StatusError(406, "NotAcceptable", message, {});
}

/** Returns the error for a JSON patch that cannot be applied. Its message has no details. */
export function patchRejected(): StatusError {
  return new StatusError(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

export function tooLarge(limit: number): StatusError {
  return requestTooLarge(`limit is ${limit}`);
}

export function requestTooLarge(detail: string): StatusError {
  return new StatusError(413, "RequestEntityTooLarge", `Request entity too large: ${detail}`);
}

export function expired(message: string): StatusError {
  return new StatusError(410, "Expired", message);
}

export function internalError(message: string): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}
