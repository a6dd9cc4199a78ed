import assert from "node:assert/strict";
import { commitViolations, markdownViolations, paragraphs } from "./check.ts";

Deno.test("the Markdown files that the prose check covers have no banned phrase", async () => {
  assert.deepEqual(await markdownViolations(), []);
});

Deno.test("the subjects of commits since the prose check exists follow its rules", async () => {
  assert.deepEqual(await commitViolations(), []);
});

Deno.test("paragraphs leaves out code and reports the line of each paragraph", () => {
  const fence = "`".repeat(3);
  assert.deepEqual(paragraphs(`# Title\n\n${fence}ts\ntold\n${fence}\n\nText\nmore\n`), [
    { line: 1, prose: "# Title" },
    { line: 7, prose: "Text\nmore" },
  ]);
});
