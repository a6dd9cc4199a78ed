import assert from "node:assert/strict";
import { metricsPage } from "./metrics_page.ts";

/** Normalizes white space, because the formatter pads tables. */
function words(text: string): string {
  return text.replaceAll(/[ \n]+/g, " ").replaceAll(/-{3,}/g, "---").trim();
}

Deno.test("docs/guides/metrics.md matches the lists of metrics and alerts", async () => {
  const current = await Deno.readTextFile(new URL("../docs/guides/metrics.md", import.meta.url));
  assert.equal(words(current), words(metricsPage()), 'it is stale: run "deno run -A tools/metrics_page.ts"');
});
