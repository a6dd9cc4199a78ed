/** Handlers as plain data. */
import type { Cause } from "../../handlers/handler_set.ts";
import type { Duration } from "../../base/duration.ts";
import type { AnyKind } from "../../resource/kind.ts";
import type { HandlerFilter, HandlerOptions, KindOptions } from "./options.ts";

declare const needs: unique symbol;

/** The part of an object that a handler follows. */
export type HandlerSubject =
  | { readonly type: "none" | "object" }
  | { readonly type: "field"; readonly path: string }
  | { readonly type: "computed"; select(object: unknown): unknown }
  | { readonly type: "items"; readonly path: string; key(item: unknown): string };

/**
 * A handler: plain data. An operator runs the handlers of a kind together.
 *
 * @typeParam Services The services of the operator that it uses.
 */
// deno-lint-ignore no-explicit-any -- a handler without a type argument fits every operator
export interface Handler<Services = any> {
  /** The type of the services. It exists for the compiler only and has no value. */
  readonly [needs]?: (services: Services) => void;
  /** Distinguishes handlers from controllers, webhooks and conversions. */
  readonly part: "handler";
  /** The function of `on` that declared it, such as `create`. */
  readonly type: HandlerType;
  /** The kind of its objects. */
  readonly kind: AnyKind;
  /** The causes for which it is called. */
  readonly causes: readonly Cause[];
  /** The part of an object that it follows. */
  readonly subject: HandlerSubject;
  /** For `timer`: when it is called. */
  readonly schedule?: Duration | CronTime;
  /** The options. */
  // deno-lint-ignore no-explicit-any -- one list contains handlers of different kinds
  readonly options: HandlerOptions<any> & KindOptions & TypeOptions;
  /** The filters, all of which must match: those of `on.for` and those of the handler. */
  // deno-lint-ignore no-explicit-any
  readonly filters: readonly HandlerFilter<any>[];
  /**
   * Calls the function of the handler.
   *
   * @param object The object.
   * @param context The context: in tests, the result of `fakeContext`.
   */
  // deno-lint-ignore no-explicit-any -- one list contains handlers of different kinds
  handle(object: any, context: any): unknown;
}

/** Options of some types of handlers. */
export interface TypeOptions {
  /** For `delete`: what happens when the handler gives up. */
  readonly onFailure?: "blockDeletion" | "allowDeletion";
  /** For `resume`: whether the handler is also called for objects that are being deleted. */
  readonly deleting?: boolean;
  /** For `field`: the filter for the old value. */
  readonly from?: unknown;
  /** For `field`: the filter for the current value. */
  readonly to?: unknown;
  /** For `field`: the filter for the old or the current value. */
  readonly fromOrTo?: unknown;
  /** For `timer`: the delay of the first call. */
  // deno-lint-ignore no-explicit-any -- one list contains handlers of different kinds
  readonly initialDelay?: Duration | ((object: any) => Duration);
  /** For `timer`: how long an object must not have changed before a call. */
  readonly idle?: Duration;
  /** For `timer`: whether the interval counts from the time at which a call was due. */
  readonly fixedRate?: true;
  /** For `timer`: whether a call that was due while no process ran is made at the start. */
  readonly missedRuns?: "runOnce" | "skip";
  /** For `timer`: whether the deletion of the object waits for a running call. */
  readonly blocksDeletion?: true;
}

/** A schedule of `on.timer` with regular times. */
export interface CronTime {
  /**
   * Five fields (`"0 3 * * *"`), six fields with seconds in front, or `@hourly`, `@daily`,
   * `@weekly`, `@monthly`, `@yearly`.
   */
  readonly cron: string;
  /** Name of a time zone, such as `Europe/Berlin`. @default {"UTC"} */
  readonly timeZone?: string;
}

/** The functions of `on` that declare handlers of objects. */
export type HandlerType =
  | "create"
  | "update"
  | "delete"
  | "afterDelete"
  | "resume"
  | "field"
  | "change"
  | "item"
  | "anyOf"
  | "timer";

/** Returns whether a handler adds a finalizer to the objects that match its filters. */
export function hasFinalizer({ causes, options }: Handler): boolean {
  return causes.includes("delete") || options.blocksDeletion === true;
}
