/**
 * RBAC rules in `operator.toml`: `[[generate.rbac.policies]]` with `api_groups`, `resources` and
 * `verbs`.
 */
import { isObject } from "../base/json.ts";
import { nearest } from "../base/nearest.ts";
import type { AdditionalPolicyRule } from "../manifests/install.ts";

/** The keys of a rule in the file, and the corresponding keys of a rule in a Role. */
const KEYS = {
  api_groups: "apiGroups",
  resources: "resources",
  verbs: "verbs",
  resource_names: "resourceNames",
} as const;

const REQUIRED: readonly string[] = ["api_groups", "resources", "verbs"];

/**
 * Returns the rules in the format of a Role.
 *
 * @param value The value in the file.
 * @param reject Throws an error with the reason.
 */
export function policyRules(value: unknown, reject: (reason: string) => never): AdditionalPolicyRule[] {
  if (!Array.isArray(value) || !value.every(isObject)) {
    reject("must be a list of tables. Write [[generate.rbac.policies]] above each.");
  }
  return value.map((table, index) => {
    const label = `policy ${index + 1}`;
    for (const [key, list] of Object.entries(table)) {
      if (!(key in KEYS)) {
        const suggestion = nearest(key, Object.keys(KEYS));
        reject(
          `${label} has an unknown key "${key}". ${
            suggestion === undefined
              ? `Available keys: ${Object.keys(KEYS).join(", ")}.`
              : `Did you mean "${suggestion}"?`
          }`,
        );
      }
      const isList = Array.isArray(list) && list.length > 0 && list.every((item) => typeof item === "string");
      if (!isList) reject(`"${key}" of ${label} must be a list of strings, got ${JSON.stringify(list)}.`);
    }
    for (const key of REQUIRED) {
      if (!(key in table)) {
        reject(`${label} has no "${key}". Add it${key === "api_groups" ? ', [""] for the core group' : ""}.`);
      }
    }
    return Object.fromEntries(
      Object.entries(KEYS).flatMap(([key, name]) => key in table ? [[name, table[key]]] : []),
    ) as unknown as AdditionalPolicyRule;
  });
}
