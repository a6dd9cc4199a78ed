import assert from "node:assert/strict";
import { metricsPage } from "./metrics_page.ts";

/** Words alone: how a table is padded is the formatter's. */
function words(text: string): string {
  return text.replaceAll(/[ \n]+/g, " ").replaceAll(/-{3,}/g, "---").trim();
}

Deno.test("docs/guides/metrics.md is what the lists of metrics and alerts say", async () => {
  const there = await Deno.readTextFile(new URL("../docs/guides/metrics.md", import.meta.url));
  assert.equal(words(there), words(metricsPage()), 'it is stale: run "deno run -A tools/metrics_page.ts"');
});
