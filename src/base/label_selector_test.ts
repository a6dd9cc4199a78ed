import assert from "node:assert/strict";
import { labelsError, parseLabelSelector } from "./label_selector.ts";

/** A selector, and its requirements: key, operator, values. */
const PARSED: readonly (readonly [string, readonly string[]])[] = [
  ["", []],
  [" \t\r\n", []],
  ["app", ["app exists "]],
  ["!app", ["app does not exist "]],
  ["app=", ["app in "]],
  ["app==web,tier!=a", ["app in web", "tier notin a"]],
  [" app  in ( b,a , b ) , !x ", ["app in a|b", "x does not exist "]],
  ["app notin ()", ["app notin "]],
  ["app in (,b)", ["app in |b"]],
  ["app in (b,)", ["app in |b"]],
  ["app in (b,,a)", ["app in |a|b"]],
  ["in in (in,notin),notin=in", ["in in in|notin", "notin in in"]],
  ["a>1,b<9223372036854775807", ["a > 1", "b < 9223372036854775807"]],
];

for (const [text, expected] of PARSED) {
  Deno.test(`parseLabelSelector parses ${JSON.stringify(text)}`, () => {
    const found = parseLabelSelector(text).map(({ key, operator, values }) => `${key} ${operator} ${values.join("|")}`);
    assert.deepEqual(found, expected);
  });
}

const OF_REQUIREMENT = "unable to parse requirement: ";
/**
 * An invalid selector, and the server's message. The contract suite compares the same ones with a
 * real server.
 */
const REJECTED: readonly (readonly [string, string | RegExp])[] = [
  [",", "found ',', expected: !, identifier, or 'end of string'"],
  ["(a)", "found '(', expected: !, identifier, or 'end of string'"],
  ["a,", "found '', expected: identifier after ','"],
  ["a=b=c", "found '=', expected: ',' or 'end of string'"],
  ["!", `${OF_REQUIREMENT}found '', expected: identifier`],
  ["!a=b", "found '=', expected: ',' or 'end of string'"],
  ["a===b", `${OF_REQUIREMENT}found '=', expected: identifier`],
  ["a=!b", `${OF_REQUIREMENT}found '!', expected: identifier`],
  ["a b", `${OF_REQUIREMENT}found 'b', expected: in, notin, =, ==, !=, gt, lt`],
  ["a in", `${OF_REQUIREMENT}found '' expected: '('`],
  ["a in (", `${OF_REQUIREMENT}found '', expected: ',', ')' or identifier`],
  ["a in (b", `${OF_REQUIREMENT}found '', expected: ',' or ')'`],
  ["a in (b c)", `${OF_REQUIREMENT}found 'c', expected: ',' or ')'`],
  ["a in (b,", `${OF_REQUIREMENT}found '', expected: ',', or identifier`],
  ["a<b", /^unable to parse requirement: values\[0\]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must/],
  ["a<9223372036854775808", /the value must be an integer$/],
  ["a>-5", /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-5": a valid label must/],
  ["a=-b", /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b": a valid label must/],
  ["a in (-b,c)", /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "-b"/],
  ["a in (-b,-c)", /^unable to parse requirement: \[values\[0\]\[a\]: .*, values\[1\]\[a\]: Invalid value: "-c".*\]$/],
  ["-a=b", /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist/],
  ["-x./-y", /^unable to parse requirement: <nil>: Invalid value: "-x\.\/-y": prefix part .*; name part /],
];

for (const [text, message] of REJECTED) {
  Deno.test(`parseLabelSelector rejects ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseLabelSelector(text), { name: "SyntaxError", message });
  });
}

Deno.test("labelsError rejects invalid keys and values that would form another selector", () => {
  assert.equal(labelsError({ app: "web", "example.com/a": "" }), undefined);
  assert.match(labelsError({ app: "web,tier=a" })!, /^values\[0\]\[app\]: Invalid value: "web,tier=a"/);
  assert.match(labelsError({ "a,b": "" })!, /^<nil>: Invalid value: "a,b"/);
});
