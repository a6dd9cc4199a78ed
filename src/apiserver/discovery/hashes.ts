/** Digests, as discovery and OpenAPI show them. Those of the platform: they need no library, which would be loaded at the start. */

/**
 * A digest of a text.
 *
 * @param algorithm Which.
 * @param text The text.
 */
export async function digest(algorithm: "SHA-256" | "SHA-512", text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest(algorithm, new TextEncoder().encode(text)));
}
