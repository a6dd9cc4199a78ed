import assert from "node:assert/strict";
import { textDiff } from "./text_diff.ts";

const CASES = [
  { name: "nothing", before: "a\nb\n", after: "a\nb\n", lines: [] },
  { name: "something out of nothing", before: "", after: "a\nb\n", lines: ["+a", "+b"] },
  { name: "nothing out of something", before: "a\n", after: "", lines: ["-a"] },
  { name: "a line in the middle", before: "a\nb\nc\n", after: "a\nx\nc\n", lines: [" a", "-b", "+x", " c"] },
  {
    name: "lines far from each other",
    before: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n",
    after: "0\n2\n3\n4\n5\n6\n7\n8\n9\n10\n12\n",
    lines: ["-1", "+0", " 2", " 3", " 4", " ...", " 8", " 9", " 10", "-11", "+12"],
  },
];

for (const { name, before, after, lines } of CASES) {
  Deno.test(`textDiff shows ${name}`, () => assert.deepEqual(textDiff(before, after), lines));
}

Deno.test("textDiff finds one changed line among 100,000", () => {
  const lines = Array.from({ length: 100_000 }, (_, i) => `line ${i}`);
  const before = lines.join("\n");
  const after = lines.with(50_000, "changed").join("\n");
  assert.deepEqual(textDiff(before, after).filter((line) => /^[+-]/.test(line)), ["-line 50000", "+changed"]);
});

Deno.test("textDiff counts 30,000 changed lines without comparing each with each", () => {
  const text = (word: string) => `head\n${Array.from({ length: 30_000 }, (_, i) => `${word} ${i}\n`).join("")}tail\n`;
  // Of this thread alone: other tests run in the same process.
  const bytes = () => Deno.memoryUsage().heapUsed + Deno.memoryUsage().external;
  const before = bytes();
  assert.deepEqual(textDiff(text("old"), text("new")), ["~30000 lines differ"]);
  const used = (bytes() - before) / 1e6;
  assert(used < 500, `it took ${used} MB`);
});
