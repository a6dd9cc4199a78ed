/** Descriptions of schemas: all of them, their first sentences, or none. */
import type { JsonSchema } from "@op/sdk/resource";
import { mapped } from "./schema_index.ts";

/** How much of the descriptions is taken over. */
export type Descriptions = "none" | "short" | "full";

/**
 * A schema, or what else is described, with as much of its own description as is asked for; those
 * of what is in it stay.
 *
 * @param schema The schema. It stays as it is.
 * @param descriptions How much.
 */
export function shortened<T extends { readonly description?: string }>(schema: T, descriptions: Descriptions): T {
  if (descriptions === "full" || schema.description === undefined) return schema;
  const { description, ...rest } = schema;
  const short = descriptions === "none" ? "" : firstSentence(description);
  return (short === "" ? rest : { description: short, ...rest }) as T;
}

/** A schema without any description. */
export function undescribed(schema: JsonSchema): JsonSchema {
  return mapped(shortened(schema, "none"), undescribed);
}

/**
 * The first sentence of a text, on one line.
 *
 * @param text The text.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(firstSentence("The host, e.g. of\na site. It is a name."), "The host, e.g. of a site.");
 * ```
 */
export function firstSentence(text: string): string {
  const [paragraph = ""] = text.trim().split(/\n\s*\n/, 1);
  const line = paragraph.replaceAll(/\s+/g, " ");
  // A dot ends a sentence where a capital follows: "e.g. of" goes on.
  return /^.*?[.!?](?= [A-Z"'`*(]|$)/.exec(line)?.[0] ?? line;
}
