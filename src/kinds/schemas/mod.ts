/**
 * The types of Kubernetes as schemas for your own kinds: `PodSpec`, `ResourceRequirements`,
 * `LabelSelector`, `Volume` and all others of Kubernetes' OpenAPI, with required properties, list
 * map keys, enums and defaults. Each name is a schema and the type of its values. Derive others
 * with `s.pick`, `s.omit`, `s.extend`, `s.partial` and `s.with`.
 *
 * A PodSpec in a custom resource has no defaults such as `restartPolicy`, which the API server sets
 * only in Pods. Optional properties may therefore be missing when you read them, except for the few
 * that have a default in the schema, such as `protocol` of a port.
 *
 * These schemas have no descriptions, because descriptions make the definition of a kind with a
 * PodSpec five times as large. `@op/sdk/schemas/short` has the same names with the first sentence
 * of each description, `@op/sdk/schemas/full` with whole descriptions.
 *
 * @example Usage
 * ```ts
 * import { resource, s } from "@op/sdk";
 * import { LabelSelector, PodSpec, ResourceRequirements } from "@op/sdk/schemas";
 *
 * export const Worker = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Worker",
 *   spec: s.object({
 *     targets: LabelSelector,
 *     resources: s.optional(ResourceRequirements),
 *     pod: s.omit(PodSpec, ["containers", "initContainers", "ephemeralContainers"]),
 *   }),
 * });
 * ```
 *
 * @module
 */
export * from "./latest.gen.ts";
export { Duration, IntOrString, MicroTime, Quantity, Time } from "./scalars.ts";
