/** The handlers of a kind, with the properties that determine when they are called. */
import { equal } from "../base/json.ts";

/** Why a handler is called. These calls depend on the handler state. */
export type Cause = "create" | "update" | "delete" | "resume";

/**
 * The part of an object that a handler follows. The handler's baseline is the value of this part in
 * its last successful call.
 *
 * - `none`: the handler is called once for each cause, regardless of changes.
 * - `object`: the whole object without its status.
 * - `value`: a field or a computed value. The handler is called at creation only if the value
 *   exists.
 * - `items`: the items of a list by their keys. The handler is called for each item.
 */
export type Subject = "none" | "object" | "value" | "items";

/** A handler as {@linkcode plan} and {@linkcode nextState} see it. */
export interface HandlerDefinition {
  /** Its key among the parts of the operator. It is stored in the handler state. */
  readonly key: string;
  readonly causes: ReadonlySet<Cause>;
  readonly subject: Subject;
  /**
   * Compares two values of its subject, for example lists whose order does not matter. @default
   * {JSON equality}
   */
  readonly isSame?: (one: unknown, other: unknown) => boolean;
  /** Largest number of attempts. @default {no limit} */
  readonly retries?: number | undefined;
  /** Time limit for all attempts together, in milliseconds. @default {no limit} */
  readonly totalTimeout?: number | undefined;
  /** Whether a delete handler that gave up blocks the deletion of the object. */
  readonly onFailure?: "blockDeletion" | "allowDeletion" | undefined;
  /** Whether the handler is called with `create` for objects that are older than the handler. */
  readonly isForExistingObjects?: boolean;
  /** Earlier keys of the handler, whose state is kept. */
  readonly renamedFrom?: readonly string[];
}

/** The handlers of a kind in an operator, in the order of its parts. */
export interface HandlerSet {
  readonly handlers: readonly HandlerDefinition[];
}

/** Returns whether a handler has a baseline: the last value that it handled. */
export function hasBaseline({ causes }: HandlerDefinition): boolean {
  return causes.has("create") || causes.has("update");
}

/**
 * Returns whether other handlers wait for this one. They do because updates of an object are not
 * handled before its creation.
 */
export function isCreator({ causes, subject }: HandlerDefinition): boolean {
  return causes.has("create") && (subject === "none" || subject === "object");
}

/**
 * Returns whether the number or the duration of attempts is limited. Other attempts are not stored.
 */
export function isLimited({ retries, totalTimeout }: HandlerDefinition): boolean {
  return retries !== undefined || totalTimeout !== undefined;
}

/** Returns whether a handler regards two values of its subject as the same. */
export function isSameFor({ isSame = equal }: HandlerDefinition, one: unknown, other: unknown): boolean {
  return isSame(one, other);
}
