/**
 * Validation of the conversion settings of a definition
 * (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`).
 */
import { label1035Errors } from "../../base/name_rules.ts";
import { type FieldError, forbidden, invalid, notSupported, required } from "../../schema/field_error.ts";
import { webhookClientErrors } from "../webhooks/client_errors.ts";
import type { DefinitionSpec } from "./crd.ts";

/**
 * Returns the errors of a definition's conversion settings.
 *
 * @param spec Spec of the definition.
 */
export function conversionErrors({ conversion, preserveUnknownFields }: DefinitionSpec): FieldError[] {
  if (conversion === undefined) return [];
  const path = "spec.conversion";
  const { strategy, webhook } = conversion;
  const errors: FieldError[] = [];
  if (strategy !== "None" && preserveUnknownFields) {
    errors.push(invalid(`${path}.strategy`, strategy, "must be None if spec.preserveUnknownFields is true"));
  }
  if (!strategy) errors.push(required(`${path}.strategy`));
  else if (strategy !== "None" && strategy !== "Webhook") {
    errors.push(notSupported(`${path}.strategy`, strategy, ["None", "Webhook"]));
  }
  const { clientConfig, conversionReviewVersions: versions = [] } = webhook ?? {};
  if (strategy === "Webhook") {
    return [
      ...errors,
      ...(clientConfig === undefined
        ? [required(`${path}.webhookClientConfig`, "required when strategy is set to Webhook")]
        : webhookClientErrors(clientConfig, `${path}.webhookClientConfig`)),
      ...reviewVersionErrors(versions, `${path}.conversionReviewVersions`),
    ];
  }
  const reason = "should not be set when strategy is not set to Webhook";
  if (clientConfig !== undefined) errors.push(forbidden(`${path}.webhookClientConfig`, reason));
  if (versions.length > 0) errors.push(forbidden(`${path}.conversionReviewVersions`, reason));
  return errors;
}

function reviewVersionErrors(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors = versions.flatMap((version, i) => {
    const field = `${path}[${i}]`;
    if (versions.indexOf(version) < i) return [invalid(field, version, "duplicate version")];
    return label1035Errors(version).map((reason) => invalid(field, version, reason));
  });
  if (!versions.some((version) => version === "v1" || version === "v1beta1")) {
    errors.push(invalid(path, versions, "must include at least one of v1, v1beta1"));
  }
  return errors;
}
