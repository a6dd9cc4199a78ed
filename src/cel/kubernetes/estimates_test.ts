import assert from "node:assert/strict";
import { createEnvironment, INT, listOf, type Range, STRING } from "../mod.ts";

const environment = createEnvironment({
  variables: { text: STRING, texts: listOf(STRING), numbers: listOf(INT), unknown: STRING },
});
const sizes: ReadonlyMap<string, Range> = new Map([
  ["text", { min: 0, max: 100 }],
  ["texts", { min: 0, max: 10 }],
  ["texts.@items", { min: 0, max: 20 }],
  ["numbers", { min: 0, max: 7 }],
]);

// Estimates of the CostEstimator of k8s.io/apiserver for the same sizes.
const cases: readonly (readonly [expression: string, min: number, max: number])[] = [
  ["texts.isSorted()", 1, 31],
  ["numbers.isSorted()", 1, 8],
  ["numbers.sum()", 1, 8],
  ["numbers.max()", 1, 8],
  ["texts.min()", 1, 31],
  ["texts.indexOf('a')", 1, 31],
  ["numbers.lastIndexOf(1)", 1, 8],
  ["text.find('[0-9]+')", 3, 23],
  ["text.find(text)", 2, 277],
  ["text.findAll('[0-9]+', 3)", 3, 23],
  ["text.findAll('[0-9]+').size() > 0", 5, 25],
  ["url(text).getHost()", 2, 12],
  ["isURL(text)", 2, 2],
  ["url(text) == url(text)", 3, 32],
  ["url('https://example.com/') == url(text)", 4, 23],
  ["quantity(text).asInteger()", 2, 12],
  ["isQuantity(text)", 1, 11],
  ["quantity(text).add(1).compareTo(quantity('1')) == 0", 5, 15],
  ["quantity(text) == quantity('1')", 3, 13],
  ["ip(text).family()", 2, 12],
  ["isIP(text)", 1, 11],
  ["ip.isCanonical(text)", 1, 21],
  ["ip(text) == ip('10.0.0.1')", 3, 13],
  ["string(ip(text))", 2, 12],
  ["cidr(text).prefixLength()", 2, 12],
  ["isCIDR(text)", 1, 11],
  ["cidr('10.0.0.0/8').containsIP(text)", 3, 16],
  ["cidr('10.0.0.0/8').containsIP(ip(text))", 3, 16],
  ["cidr('10.0.0.0/8').containsCIDR(text)", 5, 19],
  ["cidr('10.0.0.0/8').containsCIDR(cidr(text))", 5, 19],
  ["cidr(text).masked().ip().isLoopback()", 4, 14],
  ["format.dns1123Label().validate(text).hasValue()", 3, 323],
  ["format.named(text).hasValue()", 3, 3],
  ["format.uri() == format.date()", 3, 9],
  ["texts.all(t, !format.qualifiedName().validate(t).hasValue())", 2, 712],
  ["semver(text).major()", 2, 12],
  ["semver(text, true).isLessThan(semver('1.0.0'))", 3, 13],
  ["isSemver(text)", 1, 11],
  ["semver(text) == semver('1.0.0')", 3, 13],
  ["texts.all(t, isIP(t))", 2, 62],
  ["texts.map(t, quantity(t).asInteger()).sum()", 12, 182],
];

Deno.test(`${cases.length} expressions over strings and lists of known sizes have the estimates of a real API server`, () => {
  const estimated = cases.map(([expression]) => {
    const { min, max } = environment.compile(expression).estimateCost({ sizeOf: (path) => sizes.get(path.join(".")) });
    return [expression, min, max];
  });
  assert.deepEqual(estimated, cases);
});

Deno.test("quantity() of a string of unknown size exceeds every cost budget", () => {
  const { min, max } = environment.compile("isQuantity(unknown)").estimateCost();
  assert.equal(min, 1);
  assert(max > 1e18, String(max));
});
