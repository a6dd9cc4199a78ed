/**
 * Validation of webhook configurations
 * (`k8s.io/kubernetes/pkg/apis/admissionregistration/validation`).
 */
import { label1035Errors, qualifiedNameErrors, subdomainErrors } from "../../base/name_rules.ts";
import { CompileError, formatType } from "../../cel/mod.ts";
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from "../../schema/field_error.ts";
import { type LabelSelector, selectorErrors } from "../objects/label_selector.ts";
import type { StoredObject } from "../objects/objects.ts";
import { compileCondition } from "../webhooks/conditions.ts";
import type { Webhook, WebhookRule } from "../webhooks/webhook.ts";
import { webhookClientErrors } from "../webhooks/client_errors.ts";

/** Returns the errors of a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. */
export function webhookErrors({ webhooks = [] }: StoredObject): FieldError[] {
  const names = new Set<string>();
  return (webhooks as readonly Webhook[]).flatMap((webhook, i) => {
    const path = `webhooks[${i}]`;
    const errors = [...hookErrors(webhook, path), ...versionErrors(webhook.admissionReviewVersions ?? [], path)];
    if (webhook.name && names.has(webhook.name)) errors.push(duplicate(`${path}.name`, webhook.name));
    names.add(webhook.name);
    return errors;
  });
}

function hookErrors(webhook: Webhook, path: string): FieldError[] {
  const { name = "", rules = [], timeoutSeconds, sideEffects, namespaceSelector, objectSelector } = webhook;
  const errors = [...nameErrors(name, `${path}.name`)];
  rules.forEach((rule, i) => errors.push(...ruleErrors(rule, `${path}.rules[${i}]`)));
  const choices = { failurePolicy: ["Fail", "Ignore"], matchPolicy: ["Equivalent", "Exact"] } as const;
  for (const [key, values] of Object.entries(choices)) {
    const value = webhook[key as keyof typeof choices];
    if (value !== undefined && !isOneOf(values, value)) errors.push(notSupported(`${path}.${key}`, value, values));
  }
  const effects = ["None", "NoneOnDryRun"];
  if (sideEffects === undefined) {
    errors.push(required(`${path}.sideEffects`, `must specify one of ${effects.join(", ")}`));
  } else if (!effects.includes(sideEffects)) {
    errors.push(notSupported(`${path}.sideEffects`, sideEffects, effects));
  }
  const policies = ["IfNeeded", "Never"];
  if (webhook.reinvocationPolicy !== undefined && !policies.includes(webhook.reinvocationPolicy)) {
    errors.push(notSupported(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, policies));
  }
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    const reason = "the timeout value must be between 1 and 30 seconds";
    errors.push(invalid(`${path}.timeoutSeconds`, timeoutSeconds, reason));
  }
  const selectors: Readonly<Record<string, LabelSelector | undefined>> = { namespaceSelector, objectSelector };
  for (const [key, selector] of Object.entries(selectors)) {
    if (selector !== undefined) errors.push(...selectorErrors(selector, `${path}.${key}`));
  }
  return [
    ...errors,
    ...webhookClientErrors(webhook.clientConfig ?? {}, `${path}.clientConfig`),
    ...conditionErrors(webhook, path),
  ];
}

function nameErrors(name: string, path: string): FieldError[] {
  if (name === "") return [required(path)];
  const errors = subdomainErrors(name);
  if (errors.length > 0) return [invalid(path, name, errors.join(","))];
  if (name.split(".").length >= 3) return [];
  return [invalid(path, name, "should be a domain with at least three segments separated by dots")];
}

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];

function ruleErrors(rule: WebhookRule, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const errors: FieldError[] = [];
  const listed = { operations, apiGroups, apiVersions };
  const nouns = { operations: "operations", apiGroups: "API groups", apiVersions: "API versions" };
  for (const key of ["operations", "apiGroups", "apiVersions"] as const) {
    const values = listed[key];
    if (values.length === 0) errors.push(required(`${path}.${key}`));
    if (values.length > 1 && values.includes("*")) {
      errors.push(invalid(`${path}.${key}`, values, `if '*' is present, must not specify other ${nouns[key]}`));
    }
  }

  operations.forEach((operation, i) => {
    if (!OPERATIONS.includes(operation)) errors.push(notSupported(`${path}.operations[${i}]`, operation, OPERATIONS));
  });
  apiVersions.forEach((version, i) => {
    if (version === "") errors.push(required(`${path}.apiVersions[${i}]`));
  });
  errors.push(...resourceErrors(resources, `${path}.resources`));
  if (scope !== undefined && !SCOPES.includes(scope)) errors.push(notSupported(`${path}.scope`, scope, SCOPES));
  return errors;
}

function resourceErrors(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  // Resources listed with all subresources, such as `pods` for `pods/*`.
  const allParts = new Set<string>();
  // Subresources listed with all resources, such as `status` for `*/status`.
  const allResources = new Set<string>();
  let hasPlain = false;
  resources.forEach((text, i) => {
    const field = `${path}[${i}]`;
    if (text === "") return void errors.push(required(field));
    const slash = text.indexOf("/");
    // As in the real server, only the last plain resource counts.
    if (slash < 0) return void (hasPlain = text !== "*");
    const [resource, part] = [text.slice(0, slash), text.slice(slash + 1)];
    if (allParts.has(resource)) {
      errors.push(invalid(field, text, `if '${resource}/*' is present, must not specify ${text}`));
    }
    if (allResources.has(part)) {
      errors.push(invalid(field, text, `if '*/${part}' is present, must not specify ${text}`));
    }
    if (part === "*") allParts.add(resource);
    if (resource === "*") allResources.add(part);
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && hasPlain) {
    const reason = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(path, resources, reason));
  }
  return errors;
}

const MAX_CONDITIONS = 64;

function conditionErrors({ matchConditions = [] }: Webhook, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const field = `${path}.matchConditions`;
  if (matchConditions.length > MAX_CONDITIONS) errors.push(tooMany(field, matchConditions.length, MAX_CONDITIONS));
  const names = new Set<string>();
  matchConditions.forEach(({ name = "", expression = "" }, i) => {
    errors.push(...expressionErrors(expression.trim(), `${field}[${i}].expression`));
    if (name === "") return void errors.push(required(`${field}[${i}].name`));
    errors.push(...qualifiedNameErrors(name).map((reason) => invalid(`${field}[${i}].name`, name, reason)));
    if (names.has(name)) errors.push(duplicate(`${field}[${i}].name`, name));
    names.add(name);
  });
  return errors;
}

function expressionErrors(expression: string, path: string): FieldError[] {
  if (expression === "") return [required(path)];
  try {
    const type = formatType(compileCondition(expression).type);
    if (type === "bool" || type === "dyn") return [];
    return [invalid(path, expression, `must evaluate to bool but got ${type}`)];
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const stage = error.stage === "check" ? "compilation failed" : "program instantiation failed";
    return [invalid(path, expression, `${stage}: ${error.message}`)];
  }
}

const VERSIONS = ["v1", "v1beta1"];

function versionErrors(versions: readonly string[], path: string): FieldError[] {
  const field = `${path}.admissionReviewVersions`;
  if (versions.length === 0) return [required(field, `must specify one of ${VERSIONS.join(", ")}`)];
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) return void errors.push(invalid(`${field}[${i}]`, version, "duplicate version"));
    seen.add(version);
    errors.push(...label1035Errors(version).map((reason) => invalid(`${field}[${i}]`, version, reason)));
  });
  if (!versions.some((version) => VERSIONS.includes(version))) {
    errors.push(invalid(field, versions, `must include at least one of ${VERSIONS.join(", ")}`));
  }
  return errors;
}

function isOneOf(values: readonly string[], value: string): boolean {
  return values.includes(value);
}
