/** What is no keyword is a function around a schema. */
import { checkSchema } from "./_parts.ts";
import { isOptional, seal, sealOptional } from "./_seal.ts";
import type { Presence, Schema } from "./schema.ts";

/**
 * A property that may be left out, and is then not there when read.
 *
 * @param schema What it is where it is there. It has no default: what has one is never missing when read.
 * @throws {TypeError} If the schema has a default.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.equal(s.object({ memory: s.optional(s.string()) }).required, undefined);
 * ```
 */
export function optional<Read, Written>(
  schema: Schema<Read, Written, "required">,
): Schema<Read, Written, "optional"> {
  checkSchema("an optional", "it", schema);
  if (schema.default !== undefined) {
    throw new TypeError(
      "Cannot make a schema optional: it has a default, so that it is never missing: take one of the two away",
    );
  }
  return sealOptional(seal("an optional", schema));
}

/**
 * A value that may also be null.
 *
 * @param schema What it is where it is not null.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { s } from "@op/sdk";
 *
 * assert.deepEqual(s.nullable(s.string()), { type: "string", nullable: true });
 * ```
 */
export function nullable<Read, Written, When extends Presence>(
  schema: Schema<Read, Written, When>,
): Schema<Read | null, Written | null, When> {
  checkSchema("a nullable", "it", schema);
  const copy = seal("a nullable", { ...schema, nullable: true });
  return isOptional(schema) ? sealOptional(copy) : copy;
}
