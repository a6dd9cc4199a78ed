/** Digests for discovery and OpenAPI. */

/**
 * Returns the digest of a string.
 *
 * @param algorithm The algorithm.
 * @param text The string.
 */
export async function digest(algorithm: "SHA-256" | "SHA-512", text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)));
}
