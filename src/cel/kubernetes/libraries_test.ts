import assert from "node:assert/strict";
import { caseOf } from "../../../tests/cel_libraries/case.ts";
import { LIBRARY_TABLES } from "../../../tests/cel_libraries/mod.ts";

for (const [name, cases] of Object.entries(LIBRARY_TABLES)) {
  Deno.test(`${cases.length} expressions of the library "${name}" have the results and costs of a real API server`, () => {
    assert.deepEqual(cases.map(([expression]) => caseOf(expression)), cases);
  });
}
