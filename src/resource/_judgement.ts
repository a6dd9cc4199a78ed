/**
 * What judges kinds and webhooks as an API server does, with its compiler of rules. It is loaded by `_judge.ts` alone, and must import nothing that imports that:
 * each would wait for the other.
 */
import type { JsonSchema } from "../schema/mod.ts";
import { schemaFaults } from "../schema/structural.ts";
import { refuseSchema } from "./_schema_refusal.ts";

export { conditionFault } from "./_condition_fault.ts";
export { validate } from "./validation.ts";

/**
 * Refuses a kind for what an API server would reject in its schema.
 *
 * @param kind The kind.
 * @param schema Its schema.
 * @param hasStatus Whether it has a status subresource.
 * @throws {TypeError} If there is anything.
 */
export function checkSchema(kind: string, schema: JsonSchema, hasStatus: boolean): void {
  const faults = schemaFaults(schema, "", { hasStatus });
  if (faults.length > 0) refuseSchema(kind, schema, faults);
}
