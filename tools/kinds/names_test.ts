import assert from "node:assert/strict";
import { comment, firstSentence, latestOf } from "./names.ts";

const SENTENCES = [
  { name: "ends at a dot before a space", given: "One thing. Another.", expected: "One thing." },
  { name: "may span several lines", given: "One\nthing\nand more.\nAnother.", expected: "One thing and more." },
  { name: "ends at the end of its paragraph", given: "One thing\n\nAnother", expected: "One thing" },
  { name: "does not end at an abbreviation", given: "Pods, e.g. three. More.", expected: "Pods, e.g. three." },
  { name: "does not end at a dot in a version", given: "Since v1.29 it runs. More.", expected: "Since v1.29 it runs." },
  { name: "ends before a list", given: "It is either: * this * that", expected: "It is either" },
  { name: "ends before a list on separate lines", given: "It is one of\n - this\n - that", expected: "It is one of" },
  { name: "ends before a link", given: "The kind; More info: https://example.com", expected: "The kind" },
  {
    name: "is the link if the description has no other text",
    given: "More info: https://a.b",
    expected: "More info: https://a.b",
  },
  {
    name: "ends before the list of possible values",
    given: "The reason\n\nPossible enum values:\n - `A`",
    expected: "The reason",
  },
  {
    name: 'includes the second sentence if the first is only "Required."',
    given: "Required. The name.",
    expected: "Required. The name.",
  },
  { name: "is undefined for an empty description", given: " ", expected: undefined },
];

Deno.test("firstSentence", async (t) => {
  for (const { name, given, expected } of SENTENCES) {
    await t.step(name, () => assert.equal(firstSentence(given), expected));
  }
});

Deno.test("comment returns one line, escapes */ and cuts long sentences at a word", () => {
  assert.equal(comment("Many */ pods. More.", "  "), "  /** Many * / pods. */\n");
  assert.equal(comment(undefined, ""), "");
  // deno-lint-ignore prose/plain-english -- The description is an arbitrary long sentence.
  const long = comment(`It ${"goes on ".repeat(40)}.`, "");
  assert.match(long, /^\/\*\* It (goes on )+(goes )?\.\.\. \*\/\n$/);
  assert(long.length < 175);
});

Deno.test("latestOf assigns a name to the group that took the kind over, to core or to the preferred group, or omits it", () => {
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
