/** CEL expressions of rules: the language and the libraries of Kubernetes. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import {
  COUNT,
  define,
  mapList,
  object,
  type Schema,
  TEXT,
  tryChanges,
  tryEach,
  withRules,
} from "./_kinds_with_rules.ts";

/** Returns a case that evaluates rules of the field `spec.v` for each of several values. */
function rulesOf(
  kind: string,
  schema: Schema,
  expressions: readonly string[],
  values: readonly unknown[],
): (api: Recorder) => Promise<void> {
  return async (api) => {
    const subject = { api, kind, plural: `${kind.toLowerCase()}s` };
    await define(subject, object({ spec: object({ v: withRules(schema, ...expressions) }) }));
    await tryEach(subject, values.map((v) => ({ v })));
  };
}

const WORDS = { type: "array", maxItems: 9, items: { type: "string", maxLength: 20 } };

/** Expressions by library. */
export const expressions = area("expressions", {
  "strings": rulesOf("Quenepa", TEXT, [
    "self.contains('an')",
    "self.endsWith('!')",
    "self.lowerAscii() == self",
    "self.trim() == self",
    "self.indexOf('n') == 2",
    "self.lastIndexOf('n') == 2",
    "self.replace('n', 'm') != 'bamama'",
    "self.split('a').size() < 4",
    "self.substring(1, 3) == 'an'",
    "self.charAt(0) == 'b'",
    "self.size() < 6",
    "self < 'c'",
  ], ["banana", "an", "Änn!", " a ", ""]),
  "patterns in rules": rulesOf("Rambutan", TEXT, [
    "self.matches('^[a-z]+$')",
    "self.find('[0-9]+') == ''",
    "self.findAll('[0-9]+').size() < 2",
    "self.findAll('[0-9]', 1).size() == 0",
    "!self.matches('(?i)HELLO')",
    "self.matches('\\\\p{L}')",
  ], ["hello", "a1b22", "", "ä"]),
  "lists in rules": rulesOf("Rambai", { type: "array", maxItems: 9, items: COUNT }, [
    "self.isSorted()",
    "self.size() == 0 || self.sum() < 10",
    "self.size() == 0 || self.min() >= 0",
    "self.size() == 0 || self.max() <= 5",
    "self.indexOf(3) < 0",
    "self.all(x, x < 6)",
    "self.exists(x, x == 1)",
    "self.exists_one(x, x == 1)",
    "self.map(x, x * 2).filter(x, x > 4).size() < 2",
    "self + [1] != [1, 1]",
    "!(7 in self)",
    "self[0] < 9",
  ], [[1, 2], [1], [3, 1, 7], [], [-1, 1, 1]]),
  "maps in rules": rulesOf(
    "Salak",
    { type: "object", maxProperties: 5, additionalProperties: COUNT },
    [
      "'a' in self",
      "self.all(k, self[k] > 0)",
      "self.exists(k, k == 'b')",
      "self.size() < 3",
      "!has(self.c) || self.c == 3",
      "self['a'] == 1",
      "self == {'a': 1, 'b': 2}",
    ],
    [{ a: 1, b: 2 }, { a: 0 }, {}, { c: 4, d: 1, e: 1 }],
  ),
  "optional fields": rulesOf("Sapodilla", object({ a: TEXT, b: object({ c: COUNT }), d: WORDS }), [
    "has(self.a)",
    "has(self.b) && has(self.b.c)",
    "self.?a.orValue('none') != 'none'",
    "self.?b.?c.orValue(0) > 0",
    "self.?d[0].hasValue()",
    "self.?d.optMap(x, x.size()).orValue(0) < 2",
    "self.b.c > 1",
    "optional.of(1).or(optional.none()).value() == 1",
  ], [{}, { a: "x" }, { b: {} }, { b: { c: 2 }, d: ["x", "y"] }, { a: "none", b: { c: 1 }, d: [] }]),
  "quantities": rulesOf("Soursop", TEXT, [
    "isQuantity(self)",
    "!isQuantity(self) || quantity(self).isGreaterThan(quantity('100m'))",
    "!isQuantity(self) || quantity(self).isLessThan(quantity('1Gi'))",
    "!isQuantity(self) || quantity(self).isInteger()",
    "!isQuantity(self) || quantity(self).add(quantity('1')).compareTo(quantity('2')) != 0",
    "!isQuantity(self) || quantity(self).sub(1).isGreaterThan(quantity('-1'))",
    "quantity(self).asApproximateFloat() < 5.0",
    "quantity(self).asInteger() < 5",
  ], ["1", "50m", "2Gi", "1e3", "1.5", "x", "-1"]),
  "addresses": rulesOf("Tamarind", TEXT, [
    "isURL(self)",
    "!isURL(self) || url(self).getHost() == 'example.com'",
    "!isURL(self) || url(self).getPort() != '80'",
    "!isURL(self) || url(self).getScheme() == 'https'",
    "!isURL(self) || url(self).getEscapedPath() != '/a%20b'",
    "!isURL(self) || url(self).getQuery().size() == 0",
    "isIP(self) || isCIDR(self)",
    "!isIP(self) || ip(self).family() == 4",
    "!isIP(self) || !ip(self).isLoopback()",
    "!isIP(self) || cidr('10.0.0.0/8').containsIP(self)",
    "!isCIDR(self) || cidr(self).prefixLength() > 8",
    "!isCIDR(self) || cidr(self).masked() == cidr(self)",
    "ip(self).isUnspecified()",
  ], [
    "https://example.com/a b",
    "http://example.com:80/a%20b?x=1",
    "10.1.2.3",
    "::1",
    "10.0.0.0/8",
    "10.0.0.1/24",
    "x",
  ]),
  "names and their formats": rulesOf("Tangelo", TEXT, [
    "!format.dns1123Label().validate(self).hasValue()",
    "!format.dns1123Subdomain().validate(self).hasValue()",
    "!format.dns1035Label().validate(self).hasValue()",
    "!format.qualifiedName().validate(self).hasValue()",
    "!format.labelValue().validate(self).hasValue()",
    "!format.uuid().validate(self).hasValue()",
    "!format.byte().validate(self).hasValue()",
    "!format.date().validate(self).hasValue()",
    "format.named('dns1123Label').hasValue()",
    "format.dns1123Label().validate(self).orValue([]).size() < 1",
  ], ["a-b", "a.b", "A_b", "1a", "", "x/y", "2026-01-01"]),
  "semantic versions": rulesOf("Tayberry", TEXT, [
    "isSemver(self)",
    "!isSemver(self) || semver(self).major() > 0",
    "!isSemver(self) || semver(self).isLessThan(semver('2.0.0'))",
    "!isSemver(self) || semver(self).compareTo(semver('1.2.3')) >= 0",
    "isSemver(self, true)",
    "semver(self).patch() < 9",
  ], ["1.2.3", "1.2.3-rc.1", "v1.2.3", "1.2", "01.2.3", "x"]),
  "sets": rulesOf("Ugli", WORDS, [
    "sets.contains(self, ['a'])",
    "sets.equivalent(self, ['a', 'b'])",
    "sets.intersects(self, ['b', 'c'])",
    "!sets.contains(['a'], self)",
  ], [["a"], ["b", "a", "a"], [], ["c"]]),
  "numbers and conversions": rulesOf("Wampee", object({ i: COUNT, n: { type: "number" }, s: TEXT }), [
    "self.i % 3 == 1",
    "self.i / 2 == 2",
    "double(self.i) < self.n",
    "int(self.n) == self.i",
    "string(self.i) == self.s",
    "int(self.s) == self.i",
    "type(self.i) == int",
    "self.i * 9223372036854775807 > 0",
    "-self.i < 0",
    "uint(self.i) > 1u",
  ], [{ i: 4, n: 4.5, s: "4" }, { i: -1, n: 2, s: "x" }, { i: 0, n: 0, s: "" }, { i: 9, n: 1e300, s: "9" }]),
  "times and durations": rulesOf(
    "Yangmei",
    object({ at: { type: "string", format: "date-time" }, span: { type: "string", format: "duration" } }),
    [
      "self.at > timestamp('2026-01-01T00:00:00Z')",
      "self.at.getFullYear() == 2026",
      "self.at.getDayOfWeek('Europe/Berlin') != 0",
      "self.at - timestamp('2026-01-01T00:00:00Z') < self.span",
      "self.span.getMinutes() > 1",
      "self.span + duration('1h') < duration('3h')",
      "string(self.span) == '3600s'",
      "self.at + self.span > timestamp('2026-06-01T00:00:00Z')",
    ],
    [
      { at: "2026-03-01T12:00:00Z", span: "1h" },
      { at: "2025-12-31T23:59:59.5+01:00", span: "10s" },
      { at: "2027-01-03T00:00:00Z", span: "2h30m" },
    ],
  ),
  "conditionals and logic": rulesOf("Yuzu", object({ a: { type: "boolean" }, b: { type: "boolean" }, n: COUNT }), [
    "self.a || self.n / 0 == 1",
    "self.a && self.b",
    "self.a ? self.b : self.n > 0",
    "!(self.a == self.b)",
    "self.n > 1 || self.n < -1",
    "[1, 2, 3].exists(x, x == self.n)",
    "{'x': 1}.x == self.n",
    "self == self",
  ], [{ a: true, b: false, n: 1 }, { a: false, b: false, n: 0 }, { a: true, b: true, n: 5 }]),
  "transitions of nested fields": async (api) => {
    const subject = { api, kind: "Zapote", plural: "zapotes" };
    await define(
      subject,
      object({
        spec: withRules(
          object({
            n: withRules(COUNT, "self >= oldSelf", { rule: "oldSelf.hasValue() || self < 5", optionalOldSelf: true }),
            map: mapList(withRules(object({ k: TEXT, n: COUNT }, { required: ["k"] }), "self.n == oldSelf.n")),
            free: { type: "object", maxProperties: 5, additionalProperties: withRules(COUNT, "self > oldSelf") },
          }),
          "!has(oldSelf.n) || has(self.n)",
        ),
      }),
    );
    await tryEach(subject, [{ n: 5 }, { n: 4 }]);
    await tryChanges(subject, { n: 3, map: [{ k: "a", n: 1 }], free: { x: 1 } }, [
      { n: 2 },
      { n: 9 },
      { n: null },
      { map: [{ k: "a", n: 2 }] },
      { map: [{ k: "b", n: 2 }] },
      { free: { x: 1 } },
      { free: { x: 2, y: 0 } },
      { free: { x: null } },
    ]);
  },
});
