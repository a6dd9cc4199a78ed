/** Failures of user code, which tests can observe. Outside of tests they are only logged. */

/** A failure of user code. */
export interface CodeFailure {
  /**
   * What failed: `reconcile`, `cleanup`, `webhook`, `conversion`, or a function of a declaration,
   * such as `predicate of Secret`.
   */
  readonly operation: string;
  /** The key of the part among the operator's parts. Absent for conversions. */
  readonly part?: string | undefined;
  /** The kind of the object that the code was called with, such as `Website`. */
  readonly kind?: string | undefined;
  /** The namespace of that object. */
  readonly namespace?: string | undefined;
  /** The name of that object. */
  readonly name?: string | undefined;
  /** Number of consecutive failed reconciles of the object, including this one. */
  readonly attempt?: number | undefined;
  /** The thrown value. */
  readonly error: unknown;
}

/** Called before user code is called. Returns a function that is called if the user code fails. */
export type CodeObserver = () => (failure: CodeFailure) => void;
