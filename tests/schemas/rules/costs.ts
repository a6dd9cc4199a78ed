/** Costs of expressions: the estimate from the sizes in a schema, and the actual cost. */

/**
 * A rule on a list of strings, and a `maxItems` for which its cost is about 20 to 100 times too
 * high.
 */
export interface EstimatedCost {
  readonly rule: string;
  readonly maxItems: number;
}

/**
 * An expression that is evaluated for each pair of items of a list, and the smallest number of
 * items for which it exceeds the cost limit.
 */
export interface TrackedCost {
  /** An expression over an item `x`. */
  readonly expression: string;
  readonly item: string;
  readonly tooMany: number;
}

/** The maximum length of the strings. */
export const LONGEST_TEXT = 100;

/**
 * Rules for which the real server reports by which factor they exceed the limit, or which it
 * accepts for any size.
 */
export const ESTIMATED_COSTS: readonly EstimatedCost[] = [
  { rule: "self.all(x, x.matches(x))", maxItems: 77942 },
  { rule: "self.all(x, x.endsWith(x))", maxItems: 7053954 },
  { rule: "self.all(x, x.split(',', 3).size() > 1)", maxItems: 7053954 },
  { rule: "self.all(x, x < x + x)", maxItems: 7053954 },
  { rule: "self.all(x, x.trim() == '')", maxItems: 7053954 },
  { rule: "self.all(x, x.matches('^[a-z]+$'))", maxItems: 7053954 },
  { rule: "self.all(x, x.contains('abc'))", maxItems: 7053954 },
  { rule: "self.all(x, x.substring(1) == x.substring(1, 2))", maxItems: 7053954 },
  { rule: "self.all(x, x.split(',').size() > 1)", maxItems: 7053954 },
  { rule: "self.all(x, x.lowerAscii() == x.upperAscii())", maxItems: 7053954 },
  { rule: "self.all(x, x.replace('a', 'b') == x)", maxItems: 7053954 },
  { rule: "self.all(x, x.replace('a', 'bb', 2) == x)", maxItems: 7053954 },
  { rule: "self.all(x, x.indexOf('abc') > 0)", maxItems: 7053954 },
  { rule: "self.all(x, size(x) > 1)", maxItems: 38211405 },
  { rule: "self.all(x, x.lastIndexOf('a', 3) > 0)", maxItems: 7053954 },
  { rule: "self.all(x, '%s-%s'.format([x, x]) == x)", maxItems: 7053954 },
  { rule: "self.all(x, x.findAll('a').size() > 0)", maxItems: 7053954 },
  { rule: "self.all(x, x.find('[a-z]+') == x)", maxItems: 7053954 },
  { rule: "self.all(x, strings.quote(x) == x)", maxItems: 7053954 },
  { rule: "self.all(x, x.charAt(1) == 'a')", maxItems: 38211405 },
  { rule: "self.all(x, x.findAll('a', 2).size() > 0)", maxItems: 7053954 },
  { rule: "self.all(x, x == 'a')", maxItems: 50639155 },
  { rule: "self.all(x, x.startsWith('abc'))", maxItems: 50639155 },
  { rule: "self.all(x, int(x) > 0)", maxItems: 38211405 },
  { rule: "self.all(x, x.split('').join('') == x)", maxItems: 100 },
  { rule: "self.all(x, double(x) > 0.0)", maxItems: 38211405 },
  { rule: "self.all(x, isQuantity(x))", maxItems: 7053954 },
  { rule: "self.all(x, quantity(x).isGreaterThan(quantity('1')))", maxItems: 7053954 },
  { rule: "self.all(x, bytes(x).size() > 0)", maxItems: 7053954 },
  { rule: "self.all(x, [x, x].join(x) == x)", maxItems: 100 },
  { rule: "self.all(x, url(x).getHost() == x)", maxItems: 7053954 },
  { rule: "self.all(x, quantity(x).add(quantity(x)).sub(1).asInteger() > 0)", maxItems: 7053954 },
  { rule: "self.all(x, quantity(x).asApproximateFloat() > 1.0)", maxItems: 7053954 },
  { rule: "self.all(x, url(x).getQuery().size() > 0)", maxItems: 7053954 },
  { rule: "self.all(x, string(bytes(x)) == x)", maxItems: 2286962 },
  { rule: "self.all(x, url(x) == url(x))", maxItems: 7053954 },
  { rule: "self.all(x, quantity(x) == quantity('1'))", maxItems: 7053954 },
  { rule: "self.all(x, isIP(x))", maxItems: 7053954 },
  { rule: "self.all(x, ip(x).family() == 4)", maxItems: 7053954 },
  { rule: "self.all(x, ip(x) == ip(x))", maxItems: 7053954 },
  { rule: "self.all(x, ip.isCanonical(x))", maxItems: 7053954 },
  { rule: "self.all(x, ip(x).isLoopback())", maxItems: 7053954 },
  { rule: "self.all(x, string(ip(x)) == x)", maxItems: 7053954 },
  { rule: "self.all(x, cidr(x).containsIP(x))", maxItems: 7053954 },
  { rule: "self.all(x, cidr(x).ip().family() == 4)", maxItems: 7053954 },
  { rule: "self.all(x, format.dns1123Label().validate(x).orValue([]).size() > 0)", maxItems: 741500 },
  { rule: "self.all(x, isCIDR(x))", maxItems: 7053954 },
  { rule: "self.all(x, format.uri().validate(x).hasValue())", maxItems: 741500 },
  { rule: "self.all(x, cidr(x).prefixLength() > 3)", maxItems: 7053954 },
  { rule: "self.all(x, cidr(x).containsCIDR(cidr(x)))", maxItems: 7053954 },
  { rule: "self.all(x, string(cidr(x)) == x)", maxItems: 7053954 },
  { rule: "self.all(x, cidr(x).masked() == cidr(x))", maxItems: 7053954 },
  { rule: "self.all(x, isURL(x))", maxItems: 50639155 },
  { rule: "self.all(x, format.date().validate(x).hasValue())", maxItems: 741500 },
  { rule: "self.all(x, !format.byte().validate(x).hasValue())", maxItems: 741500 },
  { rule: "self.all(x, isSemver(x))", maxItems: 7053954 },
  { rule: "self.all(x, format.named(x).hasValue())", maxItems: 38211405 },
  { rule: "self.all(x, semver(x).major() > 1)", maxItems: 7053954 },
  { rule: "self.all(x, semver(x, true).compareTo(semver('1.0.0')) == 1)", maxItems: 7053954 },
  { rule: "self.all(x, semver(x).isLessThan(semver(x)))", maxItems: 7053954 },
  { rule: "self.all(x, {'a': x}['a'] == x)", maxItems: 7053954 },
  { rule: "self.all(x, [x].sort() == [x])", maxItems: 7053954 },
  { rule: "self.all(x, [x, x].distinct().size() > 1)", maxItems: 7053954 },
  { rule: "self.all(x, x in ['a', 'b', 'c'])", maxItems: 21757364 },
  { rule: "self.all(x, duration(x) > duration('1s'))", maxItems: 38211405 },
  { rule: "self.all(x, optional.of(x).optMap(v, size(v)).orValue(0) > 0)", maxItems: 21757364 },
  { rule: "self.all(x, [x, 'a', 'b'].exists(y, y == x))", maxItems: 2286962 },
  { rule: "self.all(x, [x, x].isSorted())", maxItems: 100 },
  { rule: "self.all(x, timestamp(x).getFullYear() > 2000)", maxItems: 38211405 },
  { rule: "self.all(x, [x, x].reverse()[0] == x)", maxItems: 7053954 },
  { rule: "self.all(x, [[x]].flatten() == [x])", maxItems: 7053954 },
  { rule: "self.all(x, ['a', 'b'].map(y, y + x).size() > 0)", maxItems: 44380 },
  { rule: "self.all(x, timestamp(x) > timestamp(0))", maxItems: 38211405 },
  { rule: "self.all(x, sets.equivalent([x, 'b'], ['a', 'c']))", maxItems: 7053954 },
  { rule: "self.all(x, [x, x].slice(0, 1) == [x])", maxItems: 7053954 },
  { rule: "self.all(x, [x, 'b'].max() == x)", maxItems: 100 },
  { rule: "self.all(x, sets.intersects([x], [x]))", maxItems: 21757364 },
  { rule: "self.all(x, [x].indexOf(x) == 0)", maxItems: 100 },
  { rule: "self.all(x, [x].sortBy(v, size(v)).size() > 0)", maxItems: 7053954 },
  { rule: "self.all(x, lists.range(10).size() > 0)", maxItems: 21757364 },
  { rule: "self.all(x, [x].transformList(i, v, v + x).size() > 0)", maxItems: 77935 },
  { rule: "self.all(x, x.size() > 3 ? x.contains('a') : x.matches('b'))", maxItems: 7053954 },
  { rule: "self.all(x, [x].first().hasValue())", maxItems: 21757364 },
  { rule: "self.all(x, (x.contains('a') || x.contains('b')) && !x.contains('c'))", maxItems: 7053954 },
  { rule: "self.all(x, sets.contains([x], ['a']))", maxItems: 21757364 },
  { rule: "self.all(x, x == self[0])", maxItems: 7053954 },
  { rule: "self.all(x, has({'a': x}.a))", maxItems: 7053954 },
  { rule: "self.all(x, self.exists(y, y == x))", maxItems: 2652 },
  { rule: "self.all(x, type(x) == string)", maxItems: 77935 },
  { rule: "self.all(x, self.filter(y, y.startsWith(x)).size() > 1)", maxItems: 2652 },
  { rule: "self.all(x, self.map(y, y + x).exists(z, z == x))", maxItems: 2652 },
  { rule: "self.indexOf('a') > 0", maxItems: 7053954 },
  { rule: "self.min() == 'a'", maxItems: 7053954 },
  { rule: "self.isSorted()", maxItems: 7053954 },
  { rule: "self.join() == ''", maxItems: 7053954 },
  { rule: "self.lastIndexOf('a') > 0", maxItems: 7053954 },
  { rule: "self.max() == self.min()", maxItems: 100 },
  { rule: "self.join(',').size() > 1", maxItems: 7053954 },
  { rule: "self.sort() == self", maxItems: 14388 },
  { rule: "self.all(x, dyn(x) == 1)", maxItems: 38211405 },
  { rule: "self.distinct() == self", maxItems: 14388 },
  { rule: "self.map(x, size(x)).sum() > 0", maxItems: 21757364 },
  { rule: "self.first().orValue('') == self.last().orValue('')", maxItems: 100 },
  { rule: "self.map(x, [x]).flatten() == self", maxItems: 21757364 },
  { rule: "self.sortBy(x, size(x)).size() > 0", maxItems: 14388 },
  { rule: "sets.contains(self, self)", maxItems: 25270 },
  { rule: "sets.intersects(self, self)", maxItems: 25270 },
  { rule: "self.transformMap(i, x, x).size() > 0", maxItems: 50639155 },
  { rule: "self.transformList(i, x, x + x).size() > 0", maxItems: 7053954 },
  { rule: "self.map(x, x).map(x, x).map(x, x).size() > 0", maxItems: 7053954 },
  { rule: "self.existsOne(i, x, i == size(x))", maxItems: 38211405 },
  { rule: "self.all(i, x, self[i] == x)", maxItems: 7053954 },
  { rule: "self.all(x, self.all(y, self.all(z, x + y == z)))", maxItems: 159 },
  { rule: "self.filter(x, x > 'a').map(x, x + x).exists(x, x.contains('b'))", maxItems: 44380 },
  { rule: "self.exists_one(x, x == 'a')", maxItems: 50639155 },
  { rule: "self.reverse() == self", maxItems: 67108862 },
  { rule: "sets.equivalent(self, ['a'])", maxItems: 67108862 },
  { rule: "'a' in self", maxItems: 67108862 },
  { rule: "self == self + self", maxItems: 100 },
  { rule: "self.slice(0, 3) == ['a']", maxItems: 100 },
  { rule: "self.size() > 0", maxItems: 100 },
  { rule: "'%s'.format([self]) == ''", maxItems: 100 },
];

const LETTERS = "abcdefghij".repeat(5);

/** Rules that the real server aborts with `tooMany` items, but not with one item less. */
export const TRACKED_COSTS: readonly TrackedCost[] = [
  { expression: "x.matches('^[a-z]+$')", item: LETTERS, tooMany: 200 },
  { expression: "x < x + x", item: LETTERS, tooMany: 183 },
  { expression: "x.replace('a', 'b') == x", item: LETTERS, tooMany: 186 },
  { expression: "'%s-%s'.format([x, x])", item: LETTERS, tooMany: 200 },
  { expression: "strings.quote(x)", item: LETTERS, tooMany: 236 },
  { expression: "x.findAll('a')", item: LETTERS, tooMany: 230 },
  { expression: "string(bytes(x))", item: LETTERS, tooMany: 209 },
  { expression: "quantity(x).add(quantity(x)).sub(1).asInteger()", item: "12345678Mi", tooMany: 230 },
  { expression: "url(x).getQuery().size()", item: "https://example.com/some/path?and=query", tooMany: 230 },
  { expression: "ip.isCanonical(x)", item: "2001:db8::abcd:1234", tooMany: 243 },
  { expression: "cidr(x).containsCIDR(cidr(x))", item: "192.168.100.0/24", tooMany: 219 },
  { expression: "format.uri().validate(x).hasValue()", item: "https://example.com", tooMany: 42 },
  { expression: "format.dns1123Label().validate(x).orValue([])", item: "BAD name", tooMany: 214 },
  { expression: "semver(x).isLessThan(semver(x))", item: "1.2.3-alpha.1+build", tooMany: 230 },
  { expression: "[x, 'a', 'b'].exists(y, y == x)", item: "b", tooMany: 172 },
  { expression: "{'a': x}['a']", item: LETTERS, tooMany: 149 },
  { expression: "optional.of(x).optMap(v, size(v)).orValue(0)", item: LETTERS, tooMany: 219 },
  { expression: "[x, x].distinct()", item: LETTERS, tooMany: 153 },
  { expression: "[x, 'b', 'a'].sort()", item: "c", tooMany: 139 },
  { expression: "[x, x, x].slice(0, 2)", item: "a", tooMany: 163 },
  { expression: "lists.range(10)", item: "a", tooMany: 174 },
  { expression: "sets.contains([x, 'b'], ['a', 'c'])", item: "a", tooMany: 189 },
  { expression: "[x, 'b'].sortBy(v, size(v))", item: "a", tooMany: 117 },
  { expression: "[x, x].transformMap(i, v, v)", item: "a", tooMany: 174 },
  { expression: "(x.contains('a') || x.contains('b')) && !x.contains('z')", item: LETTERS, tooMany: 200 },
  { expression: "-(1 + 2 * 3 / 4 % 5)", item: "a", tooMany: 243 },
  { expression: "has({'a': x}.a) && !has({'a': x}.b)", item: "a", tooMany: 114 },
];
