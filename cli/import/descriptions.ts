/** Shortens or removes descriptions of schemas. */
import type { JsonSchema } from "@op/sdk/resource";
import { mapped } from "./schema_index.ts";

/** The length of descriptions. `short` keeps the first sentence. */
export type Descriptions = "none" | "short" | "full";

/**
 * Returns a schema, or another object with a description, with that description shortened.
 * Descriptions of schemas in it are unchanged.
 *
 * @param schema The schema, which is not changed.
 * @param descriptions The length.
 */
export function shortened<T extends { readonly description?: string }>(schema: T, descriptions: Descriptions): T {
  if (descriptions === "full" || schema.description === undefined) return schema;
  const { description, ...rest } = schema;
  const short = descriptions === "none" ? "" : firstSentence(description);
  return (short === "" ? rest : { description: short, ...rest }) as T;
}

/** Returns a schema without its description and those of all schemas in it. */
export function undescribed(schema: JsonSchema): JsonSchema {
  return mapped(shortened(schema, "none"), undescribed);
}

/**
 * Returns the first sentence of a text, on one line.
 *
 * @param text The text.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const description = "The host, e.g. of\na site. It is a name.";
 * assert.equal(firstSentence(description), "The host, e.g. of a site.");
 * ```
 */
export function firstSentence(text: string): string {
  const [paragraph = ""] = text.trim().split(/\n\s*\n/, 1);
  const line = paragraph.replaceAll(/\s+/g, " ");
  // A dot ends a sentence only before a capital letter: "e.g. of" does not.
  return /^.*?[.!?](?= [A-Z"'`*(]|$)/.exec(line)?.[0] ?? line;
}
