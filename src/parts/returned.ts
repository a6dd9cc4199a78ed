/** Objects that user code returns. */

/**
 * `T` as user code returns it: an optional property may be `undefined`, which means that it is
 * absent. Without this type, `exactOptionalPropertyTypes` rejects `{ className: maybe() }`.
 */
export type Returned<T> = T extends readonly (infer Item)[] ? readonly Returned<Item>[]
  : T extends object
    ? { [P in keyof T]: Returned<T[P]> | (Record<never, never> extends Pick<T, P> ? undefined : never) }
  : T;
