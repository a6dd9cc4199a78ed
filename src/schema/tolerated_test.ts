import assert from "node:assert/strict";
import type { JsonSchema } from "./json_schema.ts";
import { type Tolerated, toleratedIn } from "./tolerated.ts";

const NO_ERRORS = { unprunedDefaults: false, setTypes: false, mapKeys: false, types: false };
const KEYED = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"] } as const;

const CASES: readonly { name: string; given: JsonSchema; expected: Tolerated }[] = [
  { name: "no error in a valid schema", given: { type: "object" }, expected: {} },
  {
    name: "nested defaults with unknown fields",
    given: { type: "array", items: { type: "object", additionalProperties: { type: "object", default: { a: 1 } } } },
    expected: { unprunedDefaults: true },
  },
  {
    name: "sets of lists that are sets",
    given: {
      type: "array",
      "x-kubernetes-list-type": "set",
      items: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    },
    expected: { setTypes: true },
  },
  {
    name: "keys that may be missing",
    given: { ...KEYED, items: { type: "object", properties: { a: { type: "string" } } } },
    expected: { mapKeys: true },
  },
  {
    name: "no required keys",
    given: { ...KEYED, items: { type: "object", required: ["a"], properties: { a: { type: "string" } } } },
    expected: {},
  },
  {
    name: "unknown types",
    given: { not: { type: "strin" } } as unknown as JsonSchema,
    expected: { types: true },
  },
];
for (const { name, given, expected } of CASES) {
  Deno.test(`toleratedIn finds ${name}`, () => assert.deepEqual(toleratedIn([given]), { ...NO_ERRORS, ...expected }));
}
