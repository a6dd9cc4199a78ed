/**
 * Controllers: `controller()` and the types that it uses.
 *
 * @example A function that takes the options of an apply
 * ```ts
 * import { controller } from "@op/sdk";
 * import type { ApplyOptions } from "@op/sdk/controller";
 * import { ConfigMap, Namespace } from "@op/sdk/kinds";
 *
 * const KEEP: ApplyOptions = { force: false };
 *
 * const welcome = controller(Namespace, {
 *   owns: [ConfigMap],
 *   async reconcile({ metadata: { name: namespace } }, { apply }) {
 *     await apply(ConfigMap, { metadata: { name: "welcome", namespace } }, KEEP);
 *   },
 * });
 * ```
 *
 * @module
 */
export { type Duration, duration } from "../src/base/duration.ts";
export type { Clock } from "../src/base/clock.ts";
export { ApiError, type RequestInfo, type StatusCause } from "../src/kube/api_error.ts";
export type { AnyKind, Condition, Infer, Input, Kind, KubeObject } from "../src/resource/kind.ts";
export { type Access, access, type Verb } from "../src/parts/access.ts";
export {
  type Controller,
  controller,
  type ControllerFactory,
  type ControllerOptions,
} from "../src/parts/controller.ts";
export type {
  ApplyOptions,
  Context,
  DeleteOptions,
  EventOptions,
  Events,
  IndexMap,
  ListOptions,
  Log,
  NamespaceOptions,
  PatchOptions,
  ReconcileReason,
  StatusPart,
  WritesStatus,
} from "../src/parts/context.ts";
export { PermanentError, type ReconcileResult, type Requeue, requeue, TemporaryError } from "../src/parts/outcome.ts";
export type { SandboxPermissionName, SandboxPermissions } from "../src/parts/sandbox.ts";
export type { LabelSelector } from "../src/parts/selectors.ts";
export { every, source, type SourceContext, type Trigger } from "../src/parts/trigger.ts";
export {
  type Index,
  index,
  type MapContext,
  type ReconcileRequest,
  type Watch,
  watch,
  type WatchOptions,
} from "../src/parts/watch.ts";
export { offload, type Offloaded, type OffloadOptions, type Tasks } from "../src/runtime/offload.ts";
