/** What rules may cost, in the units of cel-go (`k8s.io/apiserver/pkg/apis/cel`; `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`). */

/** What one evaluation of a rule may cost: about a tenth of a second. */
export const CALL_LIMIT = 1_000_000;

/** What all rules may cost together on one object: about a second. */
export const OBJECT_BUDGET = 10_000_000;

/** What a rule may cost by its estimate, as often as it may be evaluated on one object. */
export const RULE_LIMIT = 10_000_000;

/** What all rules of a schema may cost together by their estimates. */
export const SCHEMA_LIMIT = 100_000_000;

/** The longest message that an expression may make, in bytes. */
export const LONGEST_MESSAGE = 5 * 1024;
