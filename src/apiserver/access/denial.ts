/**
 * Errors of denied requests, worded as in
 * `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters`.
 */
import { forbidden, StatusError } from "../wire/status_error.ts";
import { type Attributes, isOfResource } from "./attributes.ts";
import type { User } from "./user.ts";

/** The error for a user who lacks an RBAC permission. */
export class AccessDeniedError extends StatusError {
  override name = "AccessDeniedError";

  /**
   * @param error The error that the response contains.
   * @param user The user.
   * @param attributes Attributes of the denied request.
   */
  constructor(
    { code, reason, message, details }: StatusError,
    readonly user: User,
    readonly attributes: Attributes,
  ) {
    super(code, reason, message, details);
  }
}

/**
 * Returns the error for a request that is not allowed.
 *
 * @param user The user who sent it.
 * @param attributes Attributes of the request.
 * @param reason Reason of the authorizer; may be empty.
 */
export function accessDenied(user: User, attributes: Attributes, reason: string): AccessDeniedError {
  const message = escapeHtml(denialMessage(user, attributes)) + (reason === "" ? "" : `: ${reason}`);
  const error = isOfResource(attributes)
    ? forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, message)
    : new StatusError(403, "Forbidden", `forbidden: ${message}`, {});
  return new AccessDeniedError(error, user, attributes);
}

function denialMessage({ name }: User, attributes: Attributes): string {
  const user = `User ${JSON.stringify(name)} cannot ${attributes.verb}`;
  if (!isOfResource(attributes)) return `${user} path ${JSON.stringify(attributes.path)}`;
  const { group, namespace, resource, subresource } = attributes;
  const full = JSON.stringify(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${user} resource ${full} in API group ${JSON.stringify(group)} ${where}`;
}

/** Escapes characters that a browser could interpret as HTML, as the real server does. */
function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Returns the error for an unknown token. */
export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}
