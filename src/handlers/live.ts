import type { CallId } from "./state.ts";

/** An object in the cluster, as far as the causes of calls are concerned. */
export interface Live {
  readonly uid: string;
  readonly isDeleting: boolean;
  /** Whether the object has the finalizer of the handler set. */
  readonly hasFinalizer: boolean;
  /** Whether the object existed when this term began. */
  readonly isFoundAtStart: boolean;
  /** The keys of the handlers whose filters match. */
  readonly matching: ReadonlySet<string>;
  /**
   * The values of the handlers' subjects by key; absent if there is none. That of `items` is an
   * object with the items by their keys.
   */
  readonly values: ReadonlyMap<string, unknown>;
  /** Returns a digest of the call's input. If it changes, a call that gave up is retried. */
  digest(id: CallId): string;
}
