/**
 * Validation of the conversion settings of a definition
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`).
 */
import { label1035Faults } from "../../base/name_rules.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../../schema/field_error.ts";
import { webhookClientFaults } from "../webhooks/client_faults.ts";
import type { DefinitionSpec } from "./crd.ts";

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
      ...(clientConfig === undefined
        ? [required(`${path}.webhookClientConfig`, "required when strategy is set to Webhook")]
        : webhookClientFaults(clientConfig, `${path}.webhookClientConfig`)),
      ...reviewVersionFaults(versions, `${path}.conversionReviewVersions`),
    ];
  }
  const reason = "should not be set when strategy is not set to Webhook";
  if (clientConfig !== undefined) faults.push(forbidden(`${path}.webhookClientConfig`, reason));
  if (versions.length > 0) faults.push(forbidden(`${path}.conversionReviewVersions`, reason));
  return faults;
}

function reviewVersionFaults(versions: readonly string[], path: string): FieldError[] {
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
