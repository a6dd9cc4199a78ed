/**
 * Kubernetes operators in TypeScript: kinds, controllers and webhooks are plain values, from which
 * definitions, RBAC permissions, the sandbox and the rest of the installation follow.
 *
 * This entry point has what most operators use. All types of a function are in the entry points
 * `@op/sdk/resource`, `@op/sdk/controller`, `@op/sdk/webhook` and `@op/sdk/operator`, and the
 * client of the API server is in `@op/sdk/client`.
 *
 * @example An operator
 * ```ts
 * import { controller, operator, resource, s } from "@op/sdk";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const Note = resource({
 *   group: "demo.example.com",
 *   version: "v1",
 *   kind: "Note",
 *   spec: s.object({ text: s.string() }),
 *   status: s.object({ length: s.optional(s.integer()) }),
 * });
 *
 * const notes = controller(Note, {
 *   owns: [ConfigMap],
 *   async reconcile(note, { apply, status }) {
 *     const { name } = note.metadata;
 *     await apply(ConfigMap, { metadata: { name }, data: { text: note.spec.text } });
 *     status({ length: note.spec.text.length });
 *   },
 * });
 *
 * const op = operator({ name: "note-operator", parts: { notes } });
 * ```
 *
 * @module
 */
export { type Duration, duration } from "./src/base/duration.ts";
export { Quantity } from "./src/base/quantity.ts";
export type { Clock } from "./src/base/clock.ts";
export type { InferSchema, InputSchema, Schema } from "./src/schema/mod.ts";
/**
 * Schema builders: each returns JSON Schema together with the TypeScript type of the values it
 * describes.
 */
export * as s from "./src/schema/builders.ts";
export { type Resource, resource } from "./src/resource/mod.ts";
export type { AnyKind, Condition, Infer, Input, Kind, KubeObject, ObjectMeta } from "./src/resource/kind.ts";
export { access } from "./src/parts/access.ts";
export { type Controller, controller, type ControllerOptions, type Part } from "./src/parts/controller.ts";
export { on } from "./src/parts/handlers/on.ts";
export { memo } from "./src/handlers/memo.ts";
export { absent, present } from "./src/handlers/filters.ts";
export { type Webhook, webhook } from "./src/parts/webhook.ts";
export { deny } from "./src/parts/denial.ts";
export { type Conversion, conversion } from "./src/parts/conversion.ts";
export type { Context, Events, Log, ReconcileReason, StatusPart, WritesStatus } from "./src/parts/context.ts";
export { type Index, index, type ReconcileRequest, type Watch, watch, type WatchOptions } from "./src/parts/watch.ts";
export { every, source, type Trigger } from "./src/parts/trigger.ts";
export { PermanentError, type ReconcileResult, requeue, TemporaryError } from "./src/parts/outcome.ts";
export type { SandboxPermissions } from "./src/parts/sandbox.ts";
export type { Counter, Gauge, Histogram } from "./src/parts/metrics.ts";
export { offload } from "./src/runtime/offload.ts";
export { ApiError } from "./src/kube/api_error.ts";
export { operator, type OperatorOptions } from "./src/operator/operator.ts";
export type { Operator } from "./src/operator/operator_value.ts";
export type { ServicesContext } from "./src/operator/services.ts";
