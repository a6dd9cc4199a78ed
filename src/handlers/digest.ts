/** Digests of values. */
import { createHash } from "node:crypto";
import { isObject } from "../base/json.ts";

/**
 * Returns a digest of a JSON value. Equal values have equal digests, whatever the order of their
 * keys. The result is stored instead of values that must not be readable, such as those of a
 * Secret.
 *
 * @param value The value.
 * @returns 16 characters of a SHA-256 hash in base64url.
 *
 * @example A handler that follows the values of a Secret
 * ```ts
 * import { digest, on } from "@op/sdk/handlers";
 * import { Secret } from "@op/sdk/kinds";
 *
 * const rotate = on.change(Secret, ({ data }) => digest(data), ({ metadata }, { log }) => {
 *   log.info("Password changed", { secret: metadata.name });
 * });
 * ```
 */
export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(sorted(value)) ?? "").digest("base64url").slice(0, 16);
}

/** Sorts the keys of all objects in a value, so that equal values have equal JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
