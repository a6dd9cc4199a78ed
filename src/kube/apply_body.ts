/**
 * Bodies of server-side applies. Their type is `application/apply-patch+yaml`, so the API server
 * reads them as YAML.
 */

// The API server's YAML parser rejects DEL, the C1 controls, U+FFFE and U+FFFF, and reads U+0085 as
// a line break, which it folds into a space. JSON allows all of them. U+2028, U+2029 and the byte
// order mark are escaped too: to YAML 1.1 the first two are line breaks, and parsers differ on all
// three.
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * Returns an object as JSON that YAML reads as the same value. Surrogate pairs are not escaped:
 * YAML rejects them escaped.
 *
 * @param object The object to apply.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(applyBody({ text: "a\u007fb" }), '{"text":"a\\u007fb"}');
 * ```
 */
export function applyBody(object: unknown): string {
  return JSON.stringify(object).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
