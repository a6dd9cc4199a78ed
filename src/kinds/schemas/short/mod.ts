/**
 * The types of Kubernetes as schemas, with the first sentence of each description. The names are
 * those of `@op/sdk/schemas`, so that another import adds descriptions to `kubectl explain`.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { EnvVar } from "@op/sdk/schemas/short";
 *
 * assert.match(EnvVar.description!, /^EnvVar represents an environment variable/);
 * ```
 *
 * @module
 */
export * from "./latest.gen.ts";
export { Duration, IntOrString, MicroTime, Quantity, Time } from "../scalars.ts";
