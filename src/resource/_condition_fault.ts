/**
 * `matchConditions` of webhooks, checked when they are written (`k8s.io/kubernetes/pkg/apis/admissionregistration/validation`,
 * `k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions`).
 */
import { CompileError, createEnvironment, DYN, formatType, opaque } from "../cel/mod.ts";

// As many as an API server takes.
const MOST = 64;
// metadata's qualified name without its domain: what a condition's name mostly is.
const NAME = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * What is wrong with conditions, in the server's words where it is about an expression.
 *
 * @param conditions Expressions in CEL by their names. They know `object`, `oldObject`, `request` and `authorizer`.
 * @returns What is wrong; nothing when a server would take them.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(conditionFault({ people: '!request.userInfo.username.startsWith("system:")' }), undefined);
 * assert.match(conditionFault({ odd: "object.spec.size" + " +" }) ?? "", /^condition "odd": compilation failed/);
 * ```
 */
export function conditionFault(conditions: { readonly [name: string]: string }): string | undefined {
  const entries = Object.entries(conditions);
  if (entries.length > MOST) return `an API server takes ${MOST} conditions, these are ${entries.length}`;
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
    if (!NAME.test(name)) return `"${name}" is no name for a condition: letters, digits, "-", "_" and ".", at most 63`;
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
