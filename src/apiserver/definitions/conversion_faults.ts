/**
 * Validation of the conversion settings of a definition (`k8s.io/apiserver/pkg/util/webhook`,
 * validation.go).
 */
import { label1035Faults, subdomainFaults } from "../../base/name_rules.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../../schema/field_error.ts";
import type { DeclaredConversion } from "../webhooks/conversion.ts";
import type { DefinitionSpec } from "./crd.ts";

type ClientConfig = NonNullable<NonNullable<DeclaredConversion["webhook"]>["clientConfig"]>;

/**
 * Returns the errors of a definition's conversion settings.
 *
 * @param spec Spec of the definition.
 */
export function conversionFaults({ conversion, preserveUnknownFields }: DefinitionSpec): FieldError[] {
  if (conversion === undefined) return [];
  const path = "spec.conversion";
  const { strategy, webhook } = conversion;
  const faults: FieldError[] = [];
  if (strategy !== "None" && preserveUnknownFields) {
    faults.push(invalid(`${path}.strategy`, strategy, "must be None if spec.preserveUnknownFields is true"));
  }
  if (!strategy) faults.push(required(`${path}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook") {
    faults.push(notSupported(`${path}.strategy`, strategy, ["None", "Webhook"]));
  }
  const { clientConfig, conversionReviewVersions: versions = [] } = webhook ?? {};
  if (strategy === "Webhook") {
    return [
      ...faults,
      ...clientFaults(clientConfig, `${path}.webhookClientConfig`),
      ...reviewFaults(versions, `${path}.conversionReviewVersions`),
    ];
  }
  const reason = "should not be set when strategy is not set to Webhook";
  if (clientConfig !== undefined) faults.push(forbidden(`${path}.webhookClientConfig`, reason));
  if (versions.length > 0) faults.push(forbidden(`${path}.conversionReviewVersions`, reason));
  return faults;
}

function clientFaults(config: ClientConfig | undefined, path: string): FieldError[] {
  if (config === undefined) return [required(path, "required when strategy is set to Webhook")];
  const { url, service } = config;
  if ((url === undefined) === (service === undefined)) {
    return [required(path, "exactly one of url or service is required")];
  }
  if (url !== undefined) return urlFaults(url, `${path}.url`);
  return service === undefined ? [] : serviceFaults(service, `${path}.service`);
}

function urlFaults(text: string, path: string): FieldError[] {
  const form = "; desired format: https://host[/path]";
  const [, scheme = "", host = "", , query = "", fragment = ""] =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  const faults: FieldError[] = [];
  const at = host.lastIndexOf("@");
  if (scheme.toLowerCase() !== "https") {
    faults.push(invalid(path, scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`));
  }
  if (host.slice(at + 1) === "") faults.push(invalid(path, "", `host must be specified${form}`));
  if (at >= 0) faults.push(invalid(path, host.slice(0, at), "user information is not permitted in the URL"));
  if (fragment !== "") faults.push(invalid(path, fragment, "fragments are not permitted in the URL"));
  if (query !== "") faults.push(invalid(path, query, "query parameters are not permitted in the URL"));
  return faults;
}

function serviceFaults(service: NonNullable<ClientConfig["service"]>, path: string): FieldError[] {
  const { name = "", namespace = "", port = 443, path: urlPath } = service;
  const faults: FieldError[] = [];
  // The real server swaps these two field names.
  if (namespace === "") faults.push(required(`${path}.name`));
  if (name === "") faults.push(required(`${path}.namespace`));
  if (port < 1 || port > 65535) {
    faults.push(invalid(`${path}.port`, port, "port is not valid: must be between 1 and 65535, inclusive"));
  }
  if (urlPath === undefined || urlPath === "" || urlPath === "/") return faults;
  if (urlPath === "//") return [...faults, invalid(`${path}.path`, urlPath, "segment[0] may not be empty")];
  if (!urlPath.startsWith("/")) faults.push(invalid(`${path}.path`, urlPath, "must start with a '/'"));
  urlPath.slice(1).replace(/\/$/, "").split("/").forEach((step, i) => {
    const problems = step === ""
      ? [`segment[${i}] may not be empty`]
      : subdomainFaults(step).map((problem) => `segment[${i}]: ${problem}`);
    faults.push(...problems.map((each) => invalid(`${path}.path`, urlPath, each)));
  });
  return faults;
}

function reviewFaults(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const faults = versions.flatMap((version, i) => {
    const field = `${path}[${i}]`;
    if (versions.indexOf(version) < i) return [invalid(field, version, "duplicate version")];
    return label1035Faults(version).map((reason) => invalid(field, version, reason));
  });
  if (!versions.some((version) => version === "v1" || version === "v1beta1")) {
    faults.push(invalid(path, versions, "must include at least one of v1, v1beta1"));
  }
  return faults;
}
