/**
 * Removes credentials from URLs, which libraries quote in their errors:
 * `connect postgres://user:password@db/shop failed`.
 */

// The part between "//" and the last "@" of an authority. A path such as file:///a@1 has no
// authority.
const CREDENTIALS = /(?<!\/)\/\/[^\s/?#"'`<>\\]+@/g;

/**
 * Returns a string without the user names and passwords of the URLs in it.
 *
 * @param text The string.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const text = "connect postgres://user:top-secret@db:5432/shop failed";
 * assert.equal(withoutUrlCredentials(text), "connect postgres://***@db:5432/shop failed");
 * ```
 */
export function withoutUrlCredentials(text: string): string {
  return text.includes("@") ? text.replace(CREDENTIALS, "//***@") : text;
}
