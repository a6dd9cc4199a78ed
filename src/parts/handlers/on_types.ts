/** The types of `on`: the functions that declare handlers. */
import type { Duration } from "../../base/duration.ts";
import type { Match } from "../../handlers/filters.ts";
import type { AnyKind, Infer } from "../../resource/kind.ts";
import type { Access } from "../access.ts";
import type { Context, IndexMap } from "../context.ts";
import type { ReconcileResult } from "../outcome.ts";
import type {
  CauseFields,
  ChangeFields,
  FieldFields,
  HandlerCause,
  HandlerFields,
  ItemFields,
  Json,
  Steps,
  UpdateFields,
} from "./contexts.ts";
import type { CheckedField, FieldAt } from "./field.ts";
import type { CronTime, Handler } from "./handler.ts";
import type { HandlerOptions, KindOptions } from "./options.ts";

/**
 * The function of a handler.
 *
 * @typeParam Fields What its context has in addition to the context of a reconcile.
 */
export type HandlerFunction<
  K extends AnyKind,
  Owns extends readonly AnyKind[],
  Reads extends readonly AnyKind[],
  U extends readonly Access[],
  Indexes extends IndexMap,
  Services,
  Fields,
> = (
  object: Infer<K>,
  context: Context<K, Owns, Reads, U, Indexes, Services> & HandlerFields<K> & Fields,
) => Promise<ReconcileResult> | ReconcileResult;

/** The items of a list field. */
export type ItemAt<T, P extends string> = FieldAt<T, P> extends readonly (infer Item)[] ? Item : never;

/** The path itself if its field is a list; otherwise the message that the compiler shows. */
export type CheckedList<T, P extends string> = [FieldAt<T, P>] extends [never] ? CheckedField<T, P>
  : FieldAt<T, P> extends readonly unknown[] ? P
  : `${P} is not a list`;

/** The message that the compiler shows if a selected value is not JSON. */
export type SelectedJson<V> = [V] extends [Json<V>] ? unknown
  : "the selected value is stored as JSON: this type is not JSON";

/** Options of `on.delete`. */
export interface DeleteOptions {
  /**
   * What happens when the handler gives up: the object stays until its next change, or it is
   * deleted anyway. @default {"blockDeletion"}
   */
  readonly onFailure?: "blockDeletion" | "allowDeletion";
}

/** Options of `on.resume`. */
export interface ResumeOptions {
  /** Whether the handler is also called for objects that are being deleted. @default {false} */
  readonly deleting?: boolean;
}

/**
 * Filters for the values of the field of an `on.field` handler: a JSON value, `present`, `absent`,
 * or a function.
 */
export interface FieldOptions<V> {
  /** The old value. @default {any} */
  readonly from?: Match<V>;
  /** The current value. @default {any} */
  readonly to?: Match<V>;
  /** The old or the current value. @default {any} */
  readonly fromOrTo?: Match<V>;
}

/** Options of `on.timer`. */
export interface TimerOptions<K extends AnyKind> {
  /** The time between the creation of an object and its first call. @default {"0s"} */
  readonly initialDelay?: Duration | ((object: Infer<K>) => Duration);
  /**
   * How long the object must not have changed before a call. The status does not count.
   * @default {"0s"}
   */
  readonly idle?: Duration;
  /**
   * Counts the interval from the time at which a call was due, and not from its end. Calls of an
   * object never overlap: times that pass during a call are skipped. @default {false}
   */
  readonly fixedRate?: true;
  /**
   * Calls that were due while no process led, judged by the last renewal of the Lease. `runOnce`:
   * the timer is called once at the start. `skip`: it is called at its next regular time.
   * @default {"skip"}
   */
  readonly missedRuns?: "runOnce" | "skip";
  /**
   * Whether the deletion of an object waits for a running call. Setting it adds a finalizer.
   * @default {false}
   */
  readonly blocksDeletion?: true;
}

/** Declares handlers. Each function returns a part of an operator. */
export interface On<Services = unknown> {
  /**
   * Declares a handler that is called once for each new object, until it succeeds. After that, only
   * `update`, `field`, `change` and `item` handlers are called.
   *
   * @param kind The kind.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  create<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & { readonly cause: "create" }>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called when an object has changed since the handler's last
   * successful call: its spec, other fields next to it, labels or annotations. Changes wait until
   * `create` handlers have succeeded or given up.
   *
   * @param kind The kind.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  update<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & UpdateFields<K>>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that cleans up before an object is deleted. Declaring it adds a finalizer to
   * all objects of the kind that match its filters.
   *
   * @param kind The kind.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  delete<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & { readonly cause: "delete" }>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & DeleteOptions,
  ): Handler<Services>;
  /**
   * Declares a handler that is called with the last state of an object after it was deleted. It
   * needs no finalizer. Deletions while no process of the operator ran are not delivered; use
   * `delete` for those.
   *
   * @param kind The kind.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  afterDelete<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, { readonly cause: "afterDelete" }>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called once for each object that already exists when this process
   * starts, or becomes the leader.
   *
   * @param kind The kind.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  resume<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, { readonly cause: "resume" }>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & ResumeOptions,
  ): Handler<Services>;
  /**
   * Declares a handler that is called when a field changed, and for a new object if the field
   * exists.
   *
   * @param kind The kind.
   * @param path The field: `.spec.replicas`, or with quoted names
   *   `.metadata.labels["example.com/tier"]`.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  field<
    K extends AnyKind,
    const P extends string,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    path: CheckedField<Infer<K>, P>,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & FieldFields<FieldAt<Infer<K>, P>>>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & FieldOptions<FieldAt<Infer<K>, P>>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called when a value that is computed from the object changed, and
   * for a new object.
   *
   * @param kind The kind.
   * @param select Returns the value, which is JSON. It depends only on the object.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  change<
    K extends AnyKind,
    V,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    select: (object: Infer<K>) => V & SelectedJson<V>,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & ChangeFields<V>>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called for each item of a list that was added, changed or removed.
   * The order of the items does not matter, and each item is retried by itself.
   *
   * @param kind The kind.
   * @param path The list: `.spec.pages`.
   * @param key Returns the key of an item, which is unique in the list.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  item<
    K extends AnyKind,
    const P extends string,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    path: CheckedList<Infer<K>, P>,
    key: (item: ItemAt<Infer<K>, P>) => string,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & ItemFields<ItemAt<Infer<K>, P>>>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares one handler for several causes.
   *
   * @param causes The causes, such as `["create", "update"]`.
   * @param kind The kind.
   * @param fn The function of the handler. Its context has the fields of the causes, by `cause`.
   * @param options Declarations, filters, and how failures are retried.
   */
  anyOf<
    const C extends HandlerCause,
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    causes: readonly C[],
    kind: K,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, Steps & CauseFields<K, C>>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & DeleteOptions,
  ): Handler<Services>;
  /**
   * Declares a timer: a handler that is called repeatedly for each object. It stores no state.
   *
   * - A new object's first call is due at once, or after `initialDelay`. With cron, it is due at
   *   the next regular time.
   * - The interval counts from the end of a call, so calls of an object never overlap.
   * - Objects that exist at start keep their place in the interval: a restart does not call all
   *   timers at once.
   * - A failed call is retried with backoff, and the schedule continues.
   * - Pausing an object or the operator skips calls.
   *
   * @param kind The kind.
   * @param schedule The interval, such as `"1m"`, or a cron schedule with a time zone.
   * @param fn The function of the handler.
   * @param options Declarations, filters, the timing, and how failures are retried.
   */
  timer<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    schedule: Duration | CronTime,
    fn: HandlerFunction<K, Owns, Reads, U, Indexes, Services, { readonly cause: "timer" }>,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & TimerOptions<K>,
  ): Handler<Services>;
  /**
   * Declares handlers of one kind that share options. Lists and filters are combined with those of
   * each handler; other options of a handler override the shared ones.
   *
   * @param kind The kind.
   * @param options The shared options.
   */
  for<
    K extends AnyKind,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    kind: K,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & KindOptions,
  ): OnKind<K, Services, Owns, Reads, U, Indexes>;
  /**
   * Declares handlers that use services: values that the operator creates at start.
   *
   * @typeParam T The services.
   */
  with<T>(): On<T>;
}

/** Declares handlers of one kind, as {@linkcode On.for} returns it. */
export interface OnKind<
  K extends AnyKind,
  Services = unknown,
  FOwns extends readonly AnyKind[] = readonly [],
  FReads extends readonly AnyKind[] = readonly [],
  FUses extends readonly Access[] = readonly [],
  FIndexes extends IndexMap = Record<never, never>,
> {
  /**
   * Declares a handler that is called once for each new object, until it succeeds. After that, only
   * `update`, `field`, `change` and `item` handlers are called.
   *
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  create<
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & { readonly cause: "create" }
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called when an object has changed since the handler's last
   * successful call: its spec, other fields next to it, labels or annotations. Changes wait until
   * `create` handlers have succeeded or given up.
   *
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  update<
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & UpdateFields<K>
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that cleans up before an object is deleted. Declaring it adds a finalizer to
   * all objects of the kind that match its filters.
   *
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  delete<
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & { readonly cause: "delete" }
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & DeleteOptions,
  ): Handler<Services>;
  /**
   * Declares a handler that is called with the last state of an object after it was deleted. It
   * needs no finalizer. Deletions while no process of the operator ran are not delivered; use
   * `delete` for those.
   *
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  afterDelete<
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      { readonly cause: "afterDelete" }
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called once for each object that already exists when this process
   * starts, or becomes the leader.
   *
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  resume<
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      { readonly cause: "resume" }
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & ResumeOptions,
  ): Handler<Services>;
  /**
   * Declares a handler that is called when a field changed, and for a new object if the field
   * exists.
   *
   * @param path The field: `.spec.replicas`, or with quoted names
   *   `.metadata.labels["example.com/tier"]`.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  field<
    const P extends string,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    path: CheckedField<Infer<K>, P>,
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & FieldFields<FieldAt<Infer<K>, P>>
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & FieldOptions<FieldAt<Infer<K>, P>>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called when a value that is computed from the object changed, and
   * for a new object.
   *
   * @param select Returns the value, which is JSON. It depends only on the object.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  change<
    V,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    select: (object: Infer<K>) => V & SelectedJson<V>,
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & ChangeFields<V>
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares a handler that is called for each item of a list that was added, changed or removed.
   * The order of the items does not matter, and each item is retried by itself.
   *
   * @param path The list: `.spec.pages`.
   * @param key Returns the key of an item, which is unique in the list.
   * @param fn The function of the handler.
   * @param options Declarations, filters, and how failures are retried.
   */
  item<
    const P extends string,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    path: CheckedList<Infer<K>, P>,
    key: (item: ItemAt<Infer<K>, P>) => string,
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & ItemFields<ItemAt<Infer<K>, P>>
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes>,
  ): Handler<Services>;
  /**
   * Declares one handler for several causes.
   *
   * @param causes The causes, such as `["create", "update"]`.
   * @param fn The function of the handler. Its context has the fields of the causes, by `cause`.
   * @param options Declarations, filters, and how failures are retried.
   */
  anyOf<
    const C extends HandlerCause,
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    causes: readonly C[],
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      Steps & CauseFields<K, C>
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & DeleteOptions,
  ): Handler<Services>;
  /**
   * Declares a timer: a handler that is called repeatedly for each object. It stores no state.
   *
   * - A new object's first call is due at once, or after `initialDelay`. With cron, it is due at
   *   the next regular time.
   * - The interval counts from the end of a call, so calls of an object never overlap.
   * - Objects that exist at start keep their place in the interval: a restart does not call all
   *   timers at once.
   * - A failed call is retried with backoff, and the schedule continues.
   * - Pausing an object or the operator skips calls.
   *
   * @param schedule The interval, such as `"1m"`, or a cron schedule with a time zone.
   * @param fn The function of the handler.
   * @param options Declarations, filters, the timing, and how failures are retried.
   */
  timer<
    const Owns extends readonly AnyKind[] = readonly [],
    const Reads extends readonly AnyKind[] = readonly [],
    const U extends readonly Access[] = readonly [],
    Indexes extends IndexMap = Record<never, never>,
  >(
    schedule: Duration | CronTime,
    fn: HandlerFunction<
      K,
      readonly [...FOwns, ...Owns],
      readonly [...FReads, ...Reads],
      readonly [...FUses, ...U],
      FIndexes & Indexes,
      Services,
      { readonly cause: "timer" }
    >,
    options?: HandlerOptions<K, Owns, Reads, U, Indexes> & TimerOptions<K>,
  ): Handler<Services>;
}
