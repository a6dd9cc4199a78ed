/** Keywords that every schema takes: they say something and check nothing. */

/** Keywords that every schema takes. `kubectl explain` shows them. */
export interface Annotations<Value = unknown> {
  readonly title?: string;
  readonly description?: string;
  readonly example?: Value;
}
