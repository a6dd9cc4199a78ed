import assert from "node:assert/strict";
import { places, type SourceMap } from "./source_map.ts";

/** `a();` and `b(1);` of two files, on one line behind an empty one, with what esbuild would say of it. */
const MAP: SourceMap = {
  version: 3,
  sources: ["first.ts", "second.ts"],
  names: ["announce"],
  // Column 0: first.ts 1:1. Column 4: second.ts 10:5, called "announce". Column 10: of no source. Line 3, column 32: first.ts 2:1.
  mappings: ";AAAA,ICSIA,M;gCDRJ",
};

const CASES = [
  { name: "a line of no source", at: [1, 1], expected: undefined },
  { name: "the beginning of a segment", at: [2, 1], expected: { source: "first.ts", line: 1, column: 1 } },
  { name: "the middle of a segment", at: [2, 4], expected: { source: "first.ts", line: 1, column: 1 } },
  {
    name: "another source, with a name",
    at: [2, 6],
    expected: { source: "second.ts", line: 10, column: 5, name: "announce" },
  },
  { name: "a segment of no source", at: [2, 12], expected: undefined },
  { name: "before the first segment of a line", at: [3, 1], expected: undefined },
  {
    name: "numbers of several digits, and back again",
    at: [3, 40],
    expected: { source: "first.ts", line: 2, column: 1 },
  },
  { name: "a line that is not there", at: [9, 1], expected: undefined },
] as const;

Deno.test("places finds the source of a place in a bundle", async (t) => {
  const placeOf = places(MAP);
  for (const { name, at: [line, column], expected } of CASES) {
    await t.step(name, () => assert.deepEqual(placeOf(line, column), expected));
  }
});

Deno.test("places refuses what is no map", () => {
  assert.throws(
    () => places({ ...MAP, mappings: "A!" }),
    /^SyntaxError: Cannot read a source map: "!" is no digit of it$/,
  );
});
