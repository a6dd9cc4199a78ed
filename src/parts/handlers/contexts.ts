/** What the contexts of handlers have in addition to the context of a reconcile. */
import type { Memo } from "../../handlers/memo.ts";
import type { StepAttempt, StepOptions } from "../../handlers/steps.ts";
import type { AnyKind, Infer } from "../../resource/kind.ts";
import type { Diff, Snapshot } from "./changes.ts";

/** Why a handler of an object is called. */
export type HandlerCause = "create" | "update" | "delete" | "resume";

/** Fields that the contexts of all handlers of an object have. */
export interface HandlerFields<K extends AnyKind> {
  /** The kind of the object. */
  readonly kind: K;
  /**
   * Returns the object's value of a memo, which all its handlers in this process share. The value
   * is created when it is first used, and disposed of after the object is deleted.
   */
  memo<T>(memo: Memo<T, Infer<K>>): T;
}

/** The changes that an `on.update` handler receives. */
export interface UpdateFields<K extends AnyKind> {
  /** Why the handler is called. */
  readonly cause: "update";
  /** The object in the handler's last successful call. */
  readonly old: Snapshot<K>;
  /** The object now. */
  readonly current: Snapshot<K>;
  /** The changes from `old` to `current`. */
  readonly diff: Diff<Snapshot<K>>;
}

/** The changes that an `on.field` handler receives. */
export interface FieldFields<V> {
  /** Why the handler is called. */
  readonly cause: "create" | "update";
  /** The value in the handler's last successful call, or `undefined` if there was none. */
  readonly old: V | undefined;
  /** The value now, or `undefined` if the field does not exist. */
  readonly current: V | undefined;
  /** The changes from `old` to `current`, with paths relative to the field. */
  readonly diff: Diff<V>;
}

/** The change that an `on.change` handler receives. */
export interface ChangeFields<V> {
  /** Why the handler is called. */
  readonly cause: "create" | "update";
  /** The value in the handler's last successful call, or `undefined` before it. */
  readonly old: V | undefined;
  /** The value now. */
  readonly current: V;
}

/** The change of one item that an `on.item` handler receives. */
export interface ItemFields<Item> {
  /** Why the handler is called. */
  readonly cause: "added" | "changed" | "removed";
  /** The item now; for `removed`, the item in the last successful call. */
  readonly item: Item;
  /** The item in the last successful call, or `undefined` if it was added. */
  readonly old: Item | undefined;
}

/** The fields of an `on.anyOf` handler, by `cause`. */
export type CauseFields<K extends AnyKind, C extends HandlerCause> = C extends "update" ? UpdateFields<K> : {
  /** Why the handler is called. */
  readonly cause: C;
  readonly old?: undefined;
  readonly current?: undefined;
  readonly diff?: undefined;
};

/** Steps of a handler: functions whose results are stored, so that a retry does not repeat them. */
export interface Steps {
  /**
   * Runs a step, unless it succeeded in an earlier attempt of this call.
   *
   * @param key The key of the step, which is unique in the call.
   * @param fn Returns the result: JSON, or `undefined`.
   * @param options How failures are retried, and how long the result is stored.
   * @returns The result of this attempt or of an earlier one.
   * @throws {StepPendingError} If the step waits for its next attempt. Do not catch it.
   */
  step<T>(key: StepKey<T>, fn: (attempt: StepAttempt) => T | Promise<T>, options?: StepOptions): Promise<T>;
  /**
   * Runs steps in parallel.
   *
   * @param fns The functions of the steps by their keys.
   * @returns The results by the same keys.
   * @throws {AggregateError} With the errors of all steps that failed.
   */
  steps<const Fns extends { readonly [key: string]: (attempt: StepAttempt) => unknown }>(
    fns: Fns & { readonly [Key in keyof Fns]: Json<Awaited<ReturnType<Fns[Key]>>> extends never ? NotJson : unknown },
  ): Promise<{ readonly [Key in keyof Fns]: Awaited<ReturnType<Fns[Key]>> }>;
}

/** The message that the compiler shows if the result of a step is not JSON. */
export type NotJson = "a step's result is stored as JSON: this type is not JSON";

/** `string`, or the message that the compiler shows if the result of a step is not JSON. */
export type StepKey<T> = [T] extends [Json<T>] ? string : NotJson;

/** `T` if all its values can be stored as JSON; otherwise a type that `T` is not assignable to. */
export type Json<T> = T extends string | number | boolean | null | undefined | void ? T
  : T extends bigint | symbol | ((...args: never) => unknown) | Date | Map<unknown, unknown> | Set<unknown> ? never
  : T extends object ? { [P in keyof T]: Json<T[P]> }
  : unknown extends T ? T
  : never;
