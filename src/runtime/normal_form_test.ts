import assert from "node:assert/strict";
import { isSameValue, stored } from "./normal_form.ts";

const SAME: readonly { name: string; wanted: unknown; live: unknown; path: string[]; expected: boolean }[] = [
  { name: "a quantity in the server's form", wanted: "1000m", live: "1", path: ["limits", "cpu"], expected: true },
  { name: "a quantity that is a number", wanted: 1, live: "1", path: ["requests", "cpu"], expected: true },
  { name: "another quantity", wanted: "1001m", live: "1", path: ["limits", "cpu"], expected: false },
  {
    name: "a whole map of quantities",
    wanted: { cpu: "500m" },
    live: { cpu: "0.5" },
    path: ["limits"],
    expected: true,
  },
  {
    name: "a map with one more",
    wanted: { cpu: "1" },
    live: { cpu: "1", memory: "1" },
    path: ["limits"],
    expected: false,
  },
  {
    name: "text that could be a quantity and is none",
    wanted: "1000m",
    live: "1",
    path: ["data", "x"],
    expected: false,
  },
  { name: "what is no quantity where one stands", wanted: "x", live: "1", path: ["limits", "cpu"], expected: false },
  { name: "an empty list that was left out", wanted: [], live: undefined, path: ["env"], expected: true },
  { name: "a list that was emptied", wanted: [], live: [1], path: ["env"], expected: false },
  { name: "false where nothing is kept", wanted: false, live: undefined, path: ["spec", "paused"], expected: true },
  { name: "0 where nothing is kept", wanted: 0, live: undefined, path: ["minReadySeconds"], expected: true },
  { name: "an empty text where nothing is kept", wanted: "", live: undefined, path: ["value"], expected: true },
  { name: "false where it is true", wanted: false, live: true, path: ["spec", "paused"], expected: false },
  {
    name: "0 that is gone from what is owned as a whole",
    wanted: [{ a: 1, b: 0 }],
    live: [{ a: 1 }],
    path: [],
    expected: true,
  },
  {
    name: "more than is wanted of what is owned as a whole",
    wanted: [{ a: 1 }],
    live: [{ a: 1, b: 0 }],
    path: [],
    expected: false,
  },
  { name: "true that is gone", wanted: { a: true }, live: {}, path: [], expected: false },
];

for (const { name, wanted, live, path, expected } of SAME) {
  Deno.test(`isSameValue says ${expected ? "yes" : "no"} to ${name}`, () => {
    assert.equal(isSameValue(wanted, live, path), expected);
  });
}

Deno.test("stored writes a Secret's stringData as data, over what data says, and leaves other kinds alone", () => {
  const secret = { apiVersion: "v1", kind: "Secret", data: { a: "eA==", b: "eQ==" }, stringData: { b: "é" } };
  assert.deepEqual(stored(secret as never), { apiVersion: "v1", kind: "Secret", data: { a: "eA==", b: "w6k=" } });
  const other = { apiVersion: "demo.example.com/v1", kind: "Secret", stringData: { b: "x" } };
  assert.equal(stored(other as never), other);
});
