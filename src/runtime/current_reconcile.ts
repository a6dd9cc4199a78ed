/**
 * The reconcile of an object while it runs, and the log of the reconcile that asynchronous code
 * belongs to.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ReconcileReason } from "../parts/context.ts";
import type { KubeObject } from "../resource/kind.ts";
import type { Logger } from "./logger.ts";
import type { ReconcileEffects } from "./loop_trace.ts";
import type { ObjectDraft } from "./object_draft.ts";

/** When the first attempt of consecutive failing ones began. */
export interface FirstAttempt {
  /** In milliseconds since the epoch. */
  readonly time: number;
  /** In monotonic milliseconds. */
  readonly elapsed: number;
}

/** A running reconcile. */
export interface CurrentReconcile {
  readonly object: KubeObject;
  readonly reason: ReconcileReason;
  readonly attempt: number;
  readonly firstAttempt: FirstAttempt;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly draft: ObjectDraft;
  readonly effects: ReconcileEffects;
}

const runs = new AsyncLocalStorage<Logger>();

/**
 * Calls a function as part of a reconcile, so that {@linkcode currentReconcileLog} returns its log.
 *
 * @param log The reconcile's log.
 * @param call The function.
 */
export function withReconcileLog<T>(log: Logger, call: () => T): T {
  return runs.run(log, call);
}

/**
 * Returns the log of the current reconcile, or `undefined` outside of one. An unhandled rejection
 * is logged with it, so that the line has the object's name. The log is unknown for rejections on
 * Deno 2.4, and for errors in timers on all versions of Deno.
 */
export function currentReconcileLog(): Logger | undefined {
  return runs.getStore();
}
