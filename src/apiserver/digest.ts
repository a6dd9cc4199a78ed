/** Digests of short texts, where a promise cannot be waited for. */
import type Crypto from "node:crypto";

/**
 * The digest of a text.
 *
 * @param algorithm Such as `sha256`.
 * @param text The text.
 */
export function digest(algorithm: string, text: string): Uint8Array {
  return crypto().createHash(algorithm).update(text).digest();
}

/** Node's module is loaded when first asked for: with it, an import of the server takes a fifth longer. */
function crypto(): typeof Crypto {
  const { process } = globalThis as unknown as { process: { getBuiltinModule(name: string): typeof Crypto } };
  return process.getBuiltinModule("node:crypto");
}
