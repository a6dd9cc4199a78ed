import assert from "node:assert/strict";
import { comment, firstSentence, latestOf } from "./names.ts";

const SENTENCES = [
  { name: "ends with a dot before a space", given: "One thing. Another.", expected: "One thing." },
  { name: "goes over lines", given: "One\nthing\nand more.\nAnother.", expected: "One thing and more." },
  { name: "ends with its paragraph", given: "One thing\n\nAnother", expected: "One thing" },
  { name: "goes on behind an abbreviation", given: "Pods, e.g. three. More.", expected: "Pods, e.g. three." },
  { name: "goes on behind a version", given: "Since v1.29 it runs. More.", expected: "Since v1.29 it runs." },
  { name: "ends before a list", given: "It is either: * this * that", expected: "It is either" },
  { name: "ends before a list on lines", given: "It is one of\n - this\n - that", expected: "It is one of" },
  { name: "ends before a link", given: "The kind; More info: https://example.com", expected: "The kind" },
  {
    name: "is the link where there is nothing else",
    given: "More info: https://a.b",
    expected: "More info: https://a.b",
  },
  { name: "ends before its values", given: "The reason\n\nPossible enum values:\n - `A`", expected: "The reason" },
  { name: "is more than a word that says nothing", given: "Required. The name.", expected: "Required. The name." },
  { name: "is nothing where nothing is said", given: " ", expected: undefined },
];

Deno.test("firstSentence", async (t) => {
  for (const { name, given, expected } of SENTENCES) {
    await t.step(name, () => assert.equal(firstSentence(given), expected));
  }
});

Deno.test("comment is one line that no text ends early, cut at a word", () => {
  assert.equal(comment("Many */ pods. More.", "  "), "  /** Many * / pods. */\n");
  assert.equal(comment(undefined, ""), "");
  const long = comment(`It ${"goes on ".repeat(40)}.`, "");
  assert.match(long, /^\/\*\* It (goes on )+(goes )?\.\.\. \*\/\n$/);
  assert(long.length < 175);
});

Deno.test("latestOf gives a name to the group that took a kind over, to core, to whom operators mean, or to nobody", () => {
  const each = (file: string, name: string, served = false) => ({ file: `${file}.gen.ts`, name, served });
  const owners = latestOf([
    each("events_v1", "Event", true),
    each("core_v1", "Event", true),
    each("core_v1", "EndpointPort"),
    each("discovery_v1", "EndpointPort"),
    each("flowcontrol_v1", "Subject"),
    each("rbac_v1", "Subject"),
    each("autoscaling_v1", "MetricSpec"),
    each("autoscaling_v2", "MetricSpec"),
    each("autoscaling_v2beta2", "MetricSpec"),
    each("apps_v1", "Anything"),
    each("batch_v1", "Anything"),
  ]);
  assert.deepEqual(owners.map(({ file, exports }) => [file, exports.map(({ name }) => name)]), [
    ["core_v1.gen.ts", ["EndpointPort"]],
    ["autoscaling_v2.gen.ts", ["MetricSpec"]],
    ["events_v1.gen.ts", ["Event"]],
    ["rbac_v1.gen.ts", ["Subject"]],
  ]);
});
