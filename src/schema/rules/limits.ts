/**
 * Cost limits of rules, in cel-go's units (`k8s.io/apiserver/pkg/apis/cel`;
 * `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation`).
 */

/** The limit of one evaluation of a rule: about a tenth of a second. */
export const CALL_LIMIT = 1_000_000;

/** The limit of all rules on one object: about a second. */
export const OBJECT_BUDGET = 10_000_000;

/** The limit of the estimated cost of a rule, for all its evaluations on one object. */
export const RULE_LIMIT = 10_000_000;

/** The limit of the estimated cost of all rules of a schema. */
export const SCHEMA_LIMIT = 100_000_000;

/** The maximum length of a message expression's result, in bytes. */
export const MAX_MESSAGE_LENGTH = 5 * 1024;
