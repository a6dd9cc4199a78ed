/** The generated schemas are taken as they are when a kind is made of them: here they are looked at, as copies that nothing is known of. */
import assert from "node:assert/strict";
import { normalSchema } from "../../schema/go_schema.ts";
import type { JsonSchema } from "../../schema/mod.ts";
import { schemaFaults } from "../../schema/structural.ts";
import * as full from "./full/mod.ts";
import * as plain from "./mod.ts";
import * as short from "./short/mod.ts";

const copyOf = (schema: JsonSchema): JsonSchema => JSON.parse(JSON.stringify(schema));

for (const [door, schemas] of Object.entries({ plain, short, full })) {
  Deno.test(`every ${door} schema of Kubernetes is in its normal form, and without fault`, () => {
    for (const [name, schema] of Object.entries(schemas)) {
      const copy = copyOf(schema);
      assert.deepEqual(normalSchema(copy), copy, name);
      // The descriptions change nothing of the rest.
      if (door !== "plain") continue;
      assert.deepEqual(schemaFaults({ type: "object", properties: { spec: copy } }, ""), [], name);
      assert(!JSON.stringify(copy).includes("x-kubernetes-validations"), `${name} has rules`);
    }
  });
}
