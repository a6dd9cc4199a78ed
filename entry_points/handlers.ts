/**
 * Handlers: `on` and the types that it uses.
 *
 * @example A value that a process keeps for each object
 * ```ts
 * import { memo, on } from "@op/sdk/handlers";
 * import { ConfigMap } from "@op/sdk/kinds";
 *
 * const changes = memo(() => ({ count: 0 }));
 *
 * const count = on.update(ConfigMap, (_map, { memo, log }) => {
 *   log.info("Changed", { count: ++memo(changes).count });
 * });
 * ```
 *
 * @module
 */
export { on } from "../src/parts/handlers/on.ts";
export type {
  CheckedList,
  DeleteOptions,
  FieldOptions,
  HandlerFunction,
  ItemAt,
  On,
  OnKind,
  ResumeOptions,
  SelectedJson,
  TimerOptions,
} from "../src/parts/handlers/on_types.ts";
export type { CronTime, Handler, HandlerSubject, HandlerType, TypeOptions } from "../src/parts/handlers/handler.ts";
export type {
  Declarations,
  HandlerFilter,
  HandlerOptions,
  KindOptions,
  Storage,
} from "../src/parts/handlers/options.ts";
export type {
  CauseFields,
  ChangeFields,
  FieldFields,
  HandlerCause,
  HandlerFields,
  ItemFields,
  Json,
  NotJson,
  StepKey,
  Steps,
  UpdateFields,
} from "../src/parts/handlers/contexts.ts";
export type { Diff, Snapshot, ValueChange } from "../src/parts/handlers/changes.ts";
export { digest } from "../src/handlers/digest.ts";
export type { DiffEntry } from "../src/handlers/diff.ts";
export type { CheckedField, FieldAt } from "../src/parts/handlers/field.ts";
export type { At, FirstName, NotLiteral, Present, UpToDot } from "../src/resource/column_path.ts";
export type { Cause } from "../src/handlers/handler_set.ts";
export type { JsonPatchOperation } from "../src/base/json_patch.ts";
export { type Identified, type Memo, memo } from "../src/handlers/memo.ts";
export {
  absent,
  type Match,
  type ObjectFilter,
  present,
  type TextFilter,
  type TextFilters,
} from "../src/handlers/filters.ts";
export {
  type RetryOptions,
  type StepAttempt,
  StepError,
  type StepErrorCode,
  type StepOptions,
  StepPendingError,
} from "../src/handlers/steps.ts";
