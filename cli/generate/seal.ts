/** The seal on generated files: it tells a file that is as it was made from one that somebody changed. */
import { createHash } from "node:crypto";

const SEAL = /^# Made by op generate\. A changed file is kept: op refuses to replace it\. ([0-9a-f]{16})\n/;

/**
 * Puts the seal on a text.
 *
 * @param text The file without it.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const file = sealed("kind: Role\n");
 * assert(isUntouched(file) && !isUntouched(file + "# mine\n"));
 * ```
 */
export function sealed(text: string): string {
  return `# Made by op generate. A changed file is kept: op refuses to replace it. ${digest(text)}\n${text}`;
}

/**
 * Whether a file is as `op` made it, of this version or an earlier one.
 *
 * @param file The whole file.
 */
export function isUntouched(file: string): boolean {
  const found = SEAL.exec(file);
  return found !== null && found[1] === digest(file.slice(found[0].length));
}

/**
 * A generated file in which names were replaced, sealed anew; any other is as it was.
 *
 * @param before The file before.
 * @param after The file now.
 */
export function resealed(before: string, after: string): string {
  return isUntouched(before) ? sealed(after.replace(SEAL, "")) : after;
}

// So that a checkout with other line ends is not taken for a change.
function digest(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex").slice(0, 16);
}
