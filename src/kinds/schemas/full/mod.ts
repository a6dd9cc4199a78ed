/**
 * The types of Kubernetes as schemas, with the whole of each description: the same names as in `@op/sdk/schemas`, so that
 * a kind shows its descriptions in `kubectl explain` by another import.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { EnvVar } from "@op/sdk/schemas/full";
 *
 * assert.match(EnvVar.description!, /^EnvVar represents an environment variable/);
 * ```
 *
 * @module
 */
export * from "./latest.gen.ts";
export { Duration, IntOrString, MicroTime, Quantity, Time } from "../scalars.ts";
