import assert from "node:assert/strict";
import { schemaErrors } from "../schema/structural.ts";
import { type JsonSchema, s } from "../schema/mod.ts";
import { CONDITIONS, OBSERVED_GENERATION } from "./conditions.ts";

Deno.test("CONDITIONS equals the output of the builders, and is valid for an API server", () => {
  const schema: JsonSchema = CONDITIONS;
  const { type, reason } = schema.items!.properties!;
  const built = s.array(
    s.object({
      type: s.string({ maxLength: 316, pattern: type!.pattern! }),
      status: s.enum(["True", "False", "Unknown"]),
      observedGeneration: s.optional(s.integer({ format: "int64", minimum: 0 })),
      lastTransitionTime: s.string({ format: "date-time" }),
      reason: s.string({ minLength: 1, maxLength: 1024, pattern: reason!.pattern! }),
      message: s.string({ maxLength: 32768 }),
    }),
    { listType: "map", listMapKeys: ["type"] },
  );
  assert.deepEqual(CONDITIONS, built);
  assert.deepEqual(OBSERVED_GENERATION, s.integer({ format: "int64" }));

  // A copy is validated completely.
  const copy = JSON.parse(JSON.stringify({ type: "object", properties: { CONDITIONS, OBSERVED_GENERATION } }));
  assert.deepEqual(schemaErrors(copy, ""), []);
});

Deno.test("CONDITIONS is deeply frozen", () => {
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    assert(Object.isFrozen(value), JSON.stringify(value));
    Object.values(value).forEach(visit);
  };
  visit(CONDITIONS);
});
