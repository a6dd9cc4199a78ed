import assert from "node:assert/strict";
import { places, type SourceMap } from "./source_map.ts";

/** The map of a bundle whose second line has `a();` and `b(1);` from two files. */
const MAP: SourceMap = {
  version: 3,
  sources: ["first.ts", "../npm:second@1.0.0/second.ts"],
  names: ["announce"],
  // Column 0: first.ts 1:1. Column 4: second.ts 10:5, named "announce". Column 10: no source.
  // Line 3, column 32: first.ts 2:1.
  mappings: ";AAAA,ICSIA,M;gCDRJ",
};

const CASES = [
  { name: "a line without a source", at: [1, 1], expected: undefined },
  { name: "the beginning of a segment", at: [2, 1], expected: { source: "first.ts", line: 1, column: 1 } },
  { name: "the middle of a segment", at: [2, 4], expected: { source: "first.ts", line: 1, column: 1 } },
  {
    name: "another source, with a name",
    at: [2, 6],
    expected: { source: "../npm:second@1.0.0/second.ts", line: 10, column: 5, name: "announce" },
  },
  { name: "a segment without a source", at: [2, 12], expected: undefined },
  { name: "a column before the first segment of a line", at: [3, 1], expected: undefined },
  { name: "a later line", at: [3, 40], expected: { source: "first.ts", line: 2, column: 1 } },
  { name: "a line after the last one", at: [9, 1], expected: undefined },
] as const;

for (const { name, at: [line, column], expected } of CASES) {
  Deno.test(`places maps a position in a bundle to its source: ${name}`, () => {
    assert.deepEqual(places(MAP)(line, column), expected);
  });
}
