/** Refusals of access, worded as `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters` does. */
import { forbidden, StatusError } from "../wire/status_error.ts";
import { type Attributes, isOfResource } from "./attributes.ts";
import type { User } from "./user.ts";

/**
 * The refusal of a request.
 *
 * @param user Who sent it.
 * @param attributes What it asked for.
 * @param reason What the authorizer says besides.
 */
export function accessRefused(user: User, attributes: Attributes, reason: string): StatusError {
  const message = escaped(refusal(user, attributes)) + (reason === "" ? "" : `: ${reason}`);
  if (!isOfResource(attributes)) return new StatusError(403, "Forbidden", `forbidden: ${message}`, {});
  return forbidden({ group: attributes.group, plural: attributes.resource }, attributes.name, message);
}

function refusal({ name }: User, attributes: Attributes): string {
  const user = `User ${JSON.stringify(name)} cannot ${attributes.verb}`;
  if (!isOfResource(attributes)) return `${user} path ${JSON.stringify(attributes.path)}`;
  const { group, namespace, resource, subresource } = attributes;
  const full = JSON.stringify(subresource === "" ? resource : `${resource}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${user} resource ${full} in API group ${JSON.stringify(group)} ${where}`;
}

/** What a browser could take for HTML is not sent as it came. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** The refusal of who shows a token that nobody knows. */
export function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", "Unauthorized");
}
