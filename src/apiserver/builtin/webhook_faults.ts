/**
 * Validation of webhook configurations
 * (`k8s.io/kubernetes/pkg/apis/admissionregistration/validation`).
 */
import { label1035Faults, qualifiedNameFaults, subdomainFaults } from "../../base/name_rules.ts";
import { CompileError, formatType } from "../../cel/mod.ts";
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from "../../schema/field_error.ts";
import { type LabelSelector, selectorFaults } from "../objects/label_selector.ts";
import type { StoredObject } from "../objects/objects.ts";
import { compileCondition } from "../webhooks/conditions.ts";
import type { Webhook, WebhookRule } from "../webhooks/webhook.ts";
import { webhookClientFaults } from "../webhooks/client_faults.ts";

/** Returns the errors of a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. */
export function webhookFaults({ webhooks = [] }: StoredObject): FieldError[] {
  const names = new Set<string>();
  return (webhooks as readonly Webhook[]).flatMap((webhook, i) => {
    const path = `webhooks[${i}]`;
    const faults = [...hookFaults(webhook, path), ...versionFaults(webhook.admissionReviewVersions ?? [], path)];
    if (webhook.name && names.has(webhook.name)) faults.push(duplicate(`${path}.name`, webhook.name));
    names.add(webhook.name);
    return faults;
  });
}

function hookFaults(webhook: Webhook, path: string): FieldError[] {
  const { name = "", rules = [], timeoutSeconds, sideEffects, namespaceSelector, objectSelector } = webhook;
  const faults = [...nameFaults(name, `${path}.name`)];
  rules.forEach((rule, i) => faults.push(...ruleFaults(rule, `${path}.rules[${i}]`)));
  const choices = { failurePolicy: ["Fail", "Ignore"], matchPolicy: ["Equivalent", "Exact"] } as const;
  for (const [key, values] of Object.entries(choices)) {
    const value = webhook[key as keyof typeof choices];
    if (value !== undefined && !isOneOf(values, value)) faults.push(notSupported(`${path}.${key}`, value, values));
  }
  const effects = ["None", "NoneOnDryRun"];
  if (sideEffects === undefined) {
    faults.push(required(`${path}.sideEffects`, `must specify one of ${effects.join(", ")}`));
  } else if (!effects.includes(sideEffects)) {
    faults.push(notSupported(`${path}.sideEffects`, sideEffects, effects));
  }
  const policies = ["IfNeeded", "Never"];
  if (webhook.reinvocationPolicy !== undefined && !policies.includes(webhook.reinvocationPolicy)) {
    faults.push(notSupported(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, policies));
  }
  if (timeoutSeconds !== undefined && (timeoutSeconds < 1 || timeoutSeconds > 30)) {
    const reason = "the timeout value must be between 1 and 30 seconds";
    faults.push(invalid(`${path}.timeoutSeconds`, timeoutSeconds, reason));
  }
  const selectors: Readonly<Record<string, LabelSelector | undefined>> = { namespaceSelector, objectSelector };
  for (const [key, selector] of Object.entries(selectors)) {
    if (selector !== undefined) faults.push(...selectorFaults(selector, `${path}.${key}`));
  }
  return [
    ...faults,
    ...webhookClientFaults(webhook.clientConfig ?? {}, `${path}.clientConfig`),
    ...conditionFaults(webhook, path),
  ];
}

function nameFaults(name: string, path: string): FieldError[] {
  if (name === "") return [required(path)];
  const faults = subdomainFaults(name);
  if (faults.length > 0) return [invalid(path, name, faults.join(","))];
  if (name.split(".").length >= 3) return [];
  return [invalid(path, name, "should be a domain with at least three segments separated by dots")];
}

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];

function ruleFaults(rule: WebhookRule, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const faults: FieldError[] = [];
  const listed = { operations, apiGroups, apiVersions };
  const nouns = { operations: "operations", apiGroups: "API groups", apiVersions: "API versions" };
  for (const key of ["operations", "apiGroups", "apiVersions"] as const) {
    const values = listed[key];
    if (values.length === 0) faults.push(required(`${path}.${key}`));
    if (values.length > 1 && values.includes("*")) {
      faults.push(invalid(`${path}.${key}`, values, `if '*' is present, must not specify other ${nouns[key]}`));
    }
  }

  operations.forEach((operation, i) => {
    if (!OPERATIONS.includes(operation)) faults.push(notSupported(`${path}.operations[${i}]`, operation, OPERATIONS));
  });
  apiVersions.forEach((version, i) => {
    if (version === "") faults.push(required(`${path}.apiVersions[${i}]`));
  });
  faults.push(...resourceFaults(resources, `${path}.resources`));
  if (scope !== undefined && !SCOPES.includes(scope)) faults.push(notSupported(`${path}.scope`, scope, SCOPES));
  return faults;
}

function resourceFaults(resources: readonly string[], path: string): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const faults: FieldError[] = [];
  // Resources listed with all subresources, such as `pods` for `pods/*`.
  const allParts = new Set<string>();
  // Subresources listed with all resources, such as `status` for `*/status`.
  const allResources = new Set<string>();
  let hasPlain = false;
  resources.forEach((text, i) => {
    const field = `${path}[${i}]`;
    if (text === "") return void faults.push(required(field));
    const slash = text.indexOf("/");
    // As in the real server, only the last plain resource counts.
    if (slash < 0) return void (hasPlain = text !== "*");
    const [resource, part] = [text.slice(0, slash), text.slice(slash + 1)];
    if (allParts.has(resource)) {
      faults.push(invalid(field, text, `if '${resource}/*' is present, must not specify ${text}`));
    }
    if (allResources.has(part)) {
      faults.push(invalid(field, text, `if '*/${part}' is present, must not specify ${text}`));
    }
    if (part === "*") allParts.add(resource);
    if (resource === "*") allResources.add(part);
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    faults.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes("*") && hasPlain) {
    const reason = "if '*' is present, must not specify other resources without subresources";
    faults.push(invalid(path, resources, reason));
  }
  return faults;
}

const MAX_CONDITIONS = 64;

function conditionFaults({ matchConditions = [] }: Webhook, path: string): FieldError[] {
  const faults: FieldError[] = [];
  const field = `${path}.matchConditions`;
  if (matchConditions.length > MAX_CONDITIONS) faults.push(tooMany(field, matchConditions.length, MAX_CONDITIONS));
  const names = new Set<string>();
  matchConditions.forEach(({ name = "", expression = "" }, i) => {
    faults.push(...expressionFaults(expression.trim(), `${field}[${i}].expression`));
    if (name === "") return void faults.push(required(`${field}[${i}].name`));
    faults.push(...qualifiedNameFaults(name).map((reason) => invalid(`${field}[${i}].name`, name, reason)));
    if (names.has(name)) faults.push(duplicate(`${field}[${i}].name`, name));
    names.add(name);
  });
  return faults;
}

function expressionFaults(expression: string, path: string): FieldError[] {
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

function versionFaults(versions: readonly string[], path: string): FieldError[] {
  const field = `${path}.admissionReviewVersions`;
  if (versions.length === 0) return [required(field, `must specify one of ${VERSIONS.join(", ")}`)];
  const faults: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    if (seen.has(version)) return void faults.push(invalid(`${field}[${i}]`, version, "duplicate version"));
    seen.add(version);
    faults.push(...label1035Faults(version).map((reason) => invalid(`${field}[${i}]`, version, reason)));
  });
  if (!versions.some((version) => VERSIONS.includes(version))) {
    faults.push(invalid(field, versions, `must include at least one of ${VERSIONS.join(", ")}`));
  }
  return faults;
}

function isOneOf(values: readonly string[], value: string): boolean {
  return values.includes(value);
}
