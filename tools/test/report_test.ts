import assert from "node:assert/strict";
import { check, closingLine, readJunit, total } from "./report.ts";

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="6" failures="1" errors="1" time="0.007">
    <testsuite name="./a_test.ts" tests="6" disabled="1" errors="1" failures="1">
        <testcase name="good" classname="./a_test.ts" time="0.003" line="2" col="6">
        </testcase>
        <testcase name="good &gt; step" classname="./a_test.ts" time="0.003" line="2" col="6">
        </testcase>
        <testcase name="short" classname="./a_test.ts"/>
        <testcase name="ignored" classname="./a_test.ts" time="0.000" line="3" col="11">
            <skipped/>
        </testcase>
        <testcase name="bad &lt;b&gt;" classname="./a_test.ts" time="0.000" line="4" col="6">
            <failure message="Uncaught AssertionError: one is &quot;not&quot; two

1 !== 2
">AssertionError: one is &quot;not&quot; two</failure>
        </testcase>
        <testcase name="late" classname="./a_test.ts" time="0.000" line="1" col="6">
            <error message="Cancelled"/>
        </testcase>
    </testsuite>
</testsuites>`;

Deno.test("readJunit counts tests and steps, and returns the failures", () => {
  assert.deepEqual(readJunit(REPORT, false, "unit"), {
    passed: 3,
    failed: 2,
    skipped: 1,
    failures: [
      './a_test.ts: bad <b>\n    Uncaught AssertionError: one is "not" two\n    1 !== 2',
      "./a_test.ts: late\n    Cancelled",
    ],
  });
});

Deno.test("readJunit counts one failure if deno test failed and no test did", () => {
  assert.equal(readJunit(undefined, false, "unit").failed, 1);
  assert.match(readJunit(undefined, false, "unit").failures[0] ?? "", /^unit: "deno test" failed outside of any test/);
});

Deno.test("readJunit returns zero for a run without tests that succeeded", () => {
  assert.equal(closingLine(readJunit(undefined, true, "unit")), "0 passed, 0 failed, 0 skipped");
});

Deno.test("closingLine has the sum of the results", () => {
  const results = [check("format", true, ""), check("lint", false, "two files"), readJunit(REPORT, false, "unit")];
  assert.equal(closingLine(total(results)), "4 passed, 3 failed, 1 skipped");
});
