/**
 * The types of Kubernetes as schemas, for kinds of one's own: `PodSpec`, `ResourceRequirements`, `LabelSelector`, `Volume` and all others
 * that Kubernetes' own OpenAPI has, with its required properties, lists that are maps, enums and defaults. Each name is the schema and the
 * type of what it describes; `s.pick`, `s.omit`, `s.extend`, `s.partial` and `s.with` make others of it.
 *
 * What stands in a custom resource is not what stands in a Pod: no server fills in `restartPolicy` there, so that all that may be left out
 * may be missing when read, save the few defaults that the schemas have, such as `protocol` of a port.
 *
 * There are no descriptions here: with them the definition of a kind that holds a PodSpec is five times as large. `@op/sdk/schemas/short` has
 * the same names with the first sentence of each, `@op/sdk/schemas/full` with the whole text.
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
