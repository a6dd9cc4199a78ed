/** The size of schemas. */
import type { JsonSchema } from "@op/sdk/resource";
import { children } from "./schema_index.ts";

const counts = new WeakMap<JsonSchema, number>();

/**
 * Returns the number of schemas in a schema, including itself and those in `allOf`, `anyOf`,
 * `oneOf` and `not`.
 *
 * @param schema The schema.
 */
export function nodesIn(schema: JsonSchema): number {
  const cached = counts.get(schema);
  if (cached !== undefined) return cached;
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  const inner = [...children(schema).map(([, child]) => child), ...allOf, ...anyOf, ...oneOf, ...(not ? [not] : [])];
  const count = inner.reduce((sum, child) => sum + nodesIn(child), 1);
  counts.set(schema, count);
  return count;
}
