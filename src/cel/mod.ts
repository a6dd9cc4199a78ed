/**
 * CEL, the language of Kubernetes' validation rules, as in an API server: cel-go v0.26.0 with the
 * libraries of k8s.io/apiserver, pkg/cel/environment. Values, costs, runtime errors and type errors
 * are the same. Syntax errors have the same position and their own words.
 */
import { declarationsOf, Environment, type EnvironmentOptions } from "./environment.ts";
import { EXTENSION_LIBRARIES } from "./extensions/mod.ts";
import { KUBERNETES_LIBRARIES } from "./kubernetes/mod.ts";
import type { Library } from "./library.ts";

export type { Range } from "./cost.ts";
export { CompileError, Environment, type EnvironmentOptions } from "./environment.ts";
export type { CallEstimate, FunctionDeclaration, Overload, SizedNode } from "./function.ts";
export type { Constant, Library } from "./library.ts";
export { EntryMap } from "./map_value.ts";
export { type EvaluateOptions, type Evaluation, Program } from "./program.ts";
export type { Sizes } from "./static_size.ts";
export {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  formatType,
  INT,
  isEquivalentType,
  isSameType,
  listOf,
  mapOf,
  NULL,
  type ObjectType,
  opaque,
  type OpaqueType,
  optionalOf,
  parameter,
  partsOf,
  type SimpleType,
  STRING,
  TIMESTAMP,
  typeName,
  typeOf,
  UINT,
} from "./type.ts";
export {
  CelError,
  DurationValue,
  List,
  type ListSemantics,
  MapValue,
  OpaqueValue,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./value.ts";

/** All libraries of an API server. */
export const API_SERVER_LIBRARIES: readonly Library[] = [...KUBERNETES_LIBRARIES, ...EXTENSION_LIBRARIES];

/**
 * Creates an environment, which compiles expressions over declared variables. This is cheap,
 * because the declarations of the libraries are combined only once.
 *
 * @param options The types of the variables, and the libraries.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const environment = createEnvironment({ variables: { self: mapOf(STRING, INT) } });
 * const program = environment.compile("self.all(key, self[key] > 0)");
 *
 * assert.equal(program.evaluate({ self: new EntryMap([["a", 1n]]) }).value, true);
 * assert.throws(() => environment.compile("self.a + 'b'"), CompileError);
 * ```
 */
export function createEnvironment(options: EnvironmentOptions): Environment {
  return new Environment(declarationsOf(options.libraries ?? API_SERVER_LIBRARIES), options.variables);
}
