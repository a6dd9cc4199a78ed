/** Where the server in the process may answer differently from the real one, and why. All of them are here. */

/** A difference that is allowed. */
export interface Exception {
  readonly area: string;
  readonly name: string;
  /** Which places of the transcript, such as `steps[2].body.message`. @default {all of the case} */
  readonly path?: RegExp;
  readonly reason: string;
}

/** All exceptions. One that is no longer needed fails the suite. */
export const EXCEPTIONS: readonly Exception[] = [];
