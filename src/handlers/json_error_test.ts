import assert from "node:assert/strict";
import { jsonError } from "./json_error.ts";

const circular: Record<string, unknown> = {};
circular["self"] = { list: [circular] };
const shared = { a: 1 };

const cases: { name: string; value: unknown; error: string | undefined }[] = [
  { name: "a string", value: "x", error: undefined },
  { name: "null", value: null, error: undefined },
  { name: "an object without a prototype", value: Object.create(null), error: undefined },
  { name: "an absent property", value: { a: undefined }, error: undefined },
  { name: "a value that occurs twice", value: [shared, { shared }], error: undefined },
  { name: "undefined", value: undefined, error: "it is undefined" },
  { name: "a number that is not finite", value: { a: [NaN] }, error: ".a[0] is NaN" },
  { name: "a Date", value: { "a.b": new Date(0) }, error: '["a.b"] is a Date' },
  { name: "a Map", value: new Map(), error: "it is a Map" },
  { name: "a function", value: { run() {} }, error: ".run is a function" },
  { name: "a bigint", value: [1n], error: "[0] is a bigint" },
  { name: "a missing item", value: [1, , 2], error: "[1] is undefined" },
  { name: "a circular value", value: circular, error: ".self.list[0] contains itself" },
];

for (const { name, value, error } of cases) {
  Deno.test(`JSON: ${name} is ${error === undefined ? "accepted" : "rejected"}`, () => {
    assert.equal(jsonError(value), error);
  });
}
