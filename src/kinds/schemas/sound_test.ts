/**
 * Validates the generated schemas, which `resource()` does not validate again. Copies are
 * validated, since the originals are marked as valid.
 */
import assert from "node:assert/strict";
import { normalSchema } from "../../schema/go_schema.ts";
import type { JsonSchema } from "../../schema/mod.ts";
import { schemaErrors } from "../../schema/structural.ts";
import * as full from "./full/mod.ts";
import * as plain from "./mod.ts";
import * as short from "./short/mod.ts";

const copyOf = (schema: JsonSchema): JsonSchema => JSON.parse(JSON.stringify(schema));

for (const [variant, schemas] of Object.entries({ plain, short, full })) {
  Deno.test(`each ${variant} schema of Kubernetes is normalized and valid`, () => {
    for (const [name, schema] of Object.entries(schemas)) {
      const copy = copyOf(schema);
      assert.deepEqual(normalSchema(copy), copy, name);
      // Descriptions do not affect validation.
      if (variant !== "plain") continue;
      assert.deepEqual(schemaErrors({ type: "object", properties: { spec: copy } }, ""), [], name);
      assert(!JSON.stringify(copy).includes("x-kubernetes-validations"), `${name} has rules`);
    }
  });
}
