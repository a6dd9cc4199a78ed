/** Identities of handler calls. */
/** Identifies a call: the key of the handler, followed by the key of the item or by the cause. */
export type CallId = string;

/**
 * Returns the identity of a call.
 *
 * @param key Key of the handler.
 * @param what The key of an item, or a cause that has its own state.
 */
export function callId(key: string, what?: { readonly item: string } | "resume" | "delete"): CallId {
  if (what === undefined) return key;
  return typeof what === "string" ? `${key}:${what}` : `${key}[${what.item}]`;
}

/** Splits the identity of a call into the key of its handler, and its item or cause. */
export function callOf(id: CallId): { readonly key: string; readonly item?: string; readonly cause?: string } {
  const [, key = "", cause, item] = /^([^[:]*)(?::(resume|delete)|\[(.*)\])?$/s.exec(id) ?? [];
  return { key, ...(cause === undefined ? {} : { cause }), ...(item === undefined ? {} : { item }) };
}
