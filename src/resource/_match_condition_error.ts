/**
 * Validates `matchConditions` of webhooks when they are declared
 * (`k8s.io/kubernetes/pkg/apis/admissionregistration/validation`,
 * `k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions`).
 */
import { CompileError, createEnvironment, DYN, formatType, opaque } from "../cel/mod.ts";

// The maximum number of conditions that an API server accepts.
const MAX_CONDITIONS = 64;
// A qualified name, as for labels. The domain is optional.
const NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * Validates conditions. Errors in expressions have the message of the API server.
 *
 * @param conditions CEL expressions by name. They may use `object`, `oldObject`, `request` and
 * `authorizer`.
 * @returns The first error, or `undefined` if a server would accept the conditions.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(
 *   matchConditionError({ people: '!request.userInfo.username.startsWith("system:")' }),
 *   undefined,
 * );
 * assert.match(
 *   matchConditionError({ odd: "object.spec.size" + " +" }) ?? "",
 *   /^condition "odd": compilation failed/,
 * );
 * ```
 */
export function matchConditionError(conditions: { readonly [name: string]: string }): string | undefined {
  const entries = Object.entries(conditions);
  if (entries.length > MAX_CONDITIONS) {
    return `an API server accepts at most ${MAX_CONDITIONS} conditions, got ${entries.length}`;
  }
  const environment = createEnvironment({
    variables: {
      object: DYN,
      oldObject: DYN,
      request: DYN,
      authorizer: opaque("kubernetes.authorization.Authorizer"),
      "authorizer.requestResource": opaque("kubernetes.authorization.ResourceCheck"),
    },
  });
  for (const [name, expression] of entries) {
    if (!NAME.test(name)) {
      return `"${name}" is not a valid name of a condition. Use at most 63 letters, digits, "-", "_" and "."`;
    }
    if (expression.trim() === "") return `condition "${name}" is empty`;
    try {
      const type = formatType(environment.compile(expression.trim()).type);
      if (type !== "bool" && type !== "dyn") return `condition "${name}" must evaluate to bool but got ${type}`;
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      return `condition "${name}": compilation failed: ${error.message}`;
    }
  }
  return undefined;
}
