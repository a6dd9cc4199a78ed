import assert from "node:assert/strict";
import { textDiff } from "./text_diff.ts";

const CASES = [
  { name: "no lines for equal strings", before: "a\nb\n", after: "a\nb\n", lines: [] },
  { name: "only added lines if the old string is empty", before: "", after: "a\nb\n", lines: ["+a", "+b"] },
  { name: "only removed lines if the new string is empty", before: "a\n", after: "", lines: ["-a"] },
  {
    name: "a changed line with the lines around it",
    before: "a\nb\nc\n",
    after: "a\nx\nc\n",
    lines: [" a", "-b", "+x", " c"],
  },
  {
    name: "dots between changes that are far apart",
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

Deno.test("textDiff only counts 30,000 changed lines, because a diff would need too much memory", () => {
  const text = (word: string) => `head\n${Array.from({ length: 30_000 }, (_, i) => `${word} ${i}\n`).join("")}tail\n`;
  // Memory of this thread only, because other tests run in the same process.
  const bytes = () => Deno.memoryUsage().heapUsed + Deno.memoryUsage().external;
  const before = bytes();
  assert.deepEqual(textDiff(text("old"), text("new")), ["~30000 lines differ"]);
  const used = (bytes() - before) / 1e6;
  assert(used < 500, `textDiff() used ${used} MB`);
});
