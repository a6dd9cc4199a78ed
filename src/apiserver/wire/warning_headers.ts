/**
 * Warnings in headers (`k8s.io/apiserver/pkg/endpoints/filters/warning.go`,
 * `k8s.io/apimachinery/pkg/util/net/http.go`).
 */

/**
 * Maximum total length of the warnings, in characters. If it is exceeded, each warning is
 * truncated.
 */
const MAX_TOTAL = 4 * 1024;

/** Length of a truncated warning in characters. */
const TRUNCATED = 256;

/**
 * Returns the values of the `Warning` headers. Duplicate warnings are dropped. Each warning is
 * encoded as UTF-8, and each byte becomes one character of the header.
 *
 * @param warnings The warnings.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(warningHeaders(['unknown field "a"']), ['299 - "unknown field \\"a\\""']);
 * ```
 */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== "" && !/\p{Cc}/u.test(text)).map((text) => [...text]);
  const isTooLong = texts.reduce((sum, text) => sum + text.length, 0) > MAX_TOTAL;
  if (!isTooLong) return texts.map(header);
  const headers: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= MAX_TOTAL) break;
    const cut = text.slice(0, TRUNCATED);
    written += cut.length;
    headers.push(header(cut));
  }
  return headers;
}

const encoder = new TextEncoder();

function header(text: readonly string[]): string {
  const quoted = text.join("").replace(/["\\]/g, "\\$&");
  return `299 - "${Array.from(encoder.encode(quoted), (byte) => String.fromCharCode(byte)).join("")}"`;
}
