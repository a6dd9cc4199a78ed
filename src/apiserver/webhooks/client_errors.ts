/**
 * Validation of the addresses of admission and conversion webhooks
 * (`k8s.io/apiserver/pkg/util/webhook`, validation.go).
 */
import { subdomainErrors } from "../../base/name_rules.ts";
import { type FieldError, invalid, required } from "../../schema/field_error.ts";

/** The address of a webhook as declared; required fields may be missing. */
export interface DeclaredAddress {
  readonly url?: string;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string;
    readonly port?: number;
  };
}

/**
 * Returns the errors of the address of a webhook.
 *
 * @param address The address.
 * @param path Path of the address, such as `webhooks[0].clientConfig`.
 */
export function webhookClientErrors({ url, service }: DeclaredAddress, path: string): FieldError[] {
  if (url !== undefined && service === undefined) return urlErrors(url, `${path}.url`);
  if (url === undefined && service !== undefined) return serviceErrors(service, `${path}.service`);
  return [required(path, "exactly one of url or service is required")];
}

// Scheme, authority, path, query and fragment of a URL, split as Go's parser does.
const URL_PARTS = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

function urlErrors(url: string, path: string): FieldError[] {
  const form = "; desired format: https://host[/path]";
  const [, scheme = "", authority = "", , query = "", fragment = ""] = URL_PARTS.exec(url) ?? [];
  const errors: FieldError[] = [];
  const at = authority.lastIndexOf("@");
  if (scheme.toLowerCase() !== "https") {
    errors.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  }
  if (authority.slice(at + 1) === "") errors.push(invalid(path, "", `host must be specified${form}`));
  if (at >= 0) errors.push(invalid(path, authority.slice(0, at), "user information is not permitted in the URL"));
  if (fragment !== "") errors.push(invalid(path, fragment, "fragments are not permitted in the URL"));
  if (query !== "") errors.push(invalid(path, query, "query parameters are not permitted in the URL"));
  return errors;
}

function serviceErrors(service: NonNullable<DeclaredAddress["service"]>, field: string): FieldError[] {
  const { namespace = "", name = "", path, port = 443 } = service;
  const errors: FieldError[] = [];
  // The real server swaps these two field names.
  if (namespace === "") errors.push(required(`${field}.name`));
  if (name === "") errors.push(required(`${field}.namespace`));
  if (port < 1 || port > 65535) {
    errors.push(invalid(`${field}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
  if (path === undefined || path === "" || path === "/") return errors;
  if (path === "//") return [...errors, invalid(`${field}.path`, path, "segment[0] may not be empty")];
  if (!path.startsWith("/")) errors.push(invalid(`${field}.path`, path, "must start with a '/'"));
  path.slice(1).replace(/\/$/, "").split("/").forEach((segment, i) => {
    const reasons = segment === ""
      ? [`segment[${i}] may not be empty`]
      : subdomainErrors(segment).map((reason) => `segment[${i}]: ${reason}`);
    errors.push(...reasons.map((reason) => invalid(`${field}.path`, path, reason)));
  });
  return errors;
}
