import assert from "node:assert/strict";
import { CORE_TABLES } from "../../tests/cel_core/mod.ts";
import { caseOf } from "../../tests/cel_libraries/case.ts";

for (const [name, cases] of Object.entries(CORE_TABLES)) {
  Deno.test(`${cases.length} expressions of the table "${name}" have the results and costs of a real API server`, () => {
    assert.deepEqual(cases.map(([expression]) => caseOf(expression)), cases);
  });
}
