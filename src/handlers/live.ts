import type { CallId } from "./call_id.ts";

/** The properties of an object in the cluster that determine which handlers are called. */
export interface Live {
  readonly uid: string;
  readonly isDeleting: boolean;
  /** Whether the object has the finalizer of the handler set. */
  readonly hasFinalizer: boolean;
  /** Whether the object existed when this process became the leader. */
  readonly isFoundAtStart: boolean;
  /** The keys of the handlers whose filters match. */
  readonly matching: ReadonlySet<string>;
  /**
   * The values of the handlers' subjects by handler key. A missing value is absent. The value of an
   * `items` subject is an object with the items by their keys.
   */
  readonly values: ReadonlyMap<string, unknown>;
  /** Returns a digest of the input of a call. If it changes, a call that gave up is retried. */
  digest(id: CallId): string;
}
