import assert from "node:assert/strict";
import fc from "fast-check";
import { Quantity } from "./quantity.ts";

const printed: readonly (readonly [given: string, text: string, integer: bigint | undefined, float: number])[] = [
  ["0", "0", 0n, 0],
  ["1", "1", 1n, 1],
  ["-2", "-2", -2n, -2],
  ["1000m", "1", undefined, 1],
  ["1500m", "1500m", undefined, 1.5],
  ["0.5", "500m", undefined, 0.5],
  [".5", "500m", undefined, 0.5],
  ["1.", "1.", 1n, 1],
  ["1.0", "1", undefined, 1],
  ["1000", "1k", 1000n, 1000],
  ["1024", "1024", 1024n, 1024],
  ["1024Mi", "1Gi", 1073741824n, 1073741824],
  ["1.5Gi", "1536Mi", undefined, 1610612736],
  ["0.5Mi", "512Ki", undefined, 524288],
  ["0.5Ki", "512", undefined, 512],
  ["0.3Ki", "307200m", undefined, 307.20000000000005],
  ["0.0001Ki", "102400u", undefined, 0.1024],
  ["1.5k", "1500", 1500n, 1500],
  ["1e3", "1e3", 1000n, 1000],
  ["1E3", "1E3", 1000n, 1000],
  ["10e3", "10e3", 10_000n, 10_000],
  ["1000e3", "1e6", 1_000_000n, 1_000_000],
  ["1e5", "100e3", 100_000n, 100_000],
  ["1e-3", "1e-3", undefined, 0.001],
  ["1E", "1E", 1_000_000_000_000_000_000n, 1e18],
  ["10E", "10E", undefined, 1e19],
  ["100n", "100n", undefined, 1.0000000000000001e-7],
  ["2000000u", "2", undefined, 2],
  ["0.1n", "1n", undefined, 1e-9],
  ["-0.1n", "-1n", undefined, -1e-9],
  ["123456789012345678901", "123456789012345678901", undefined, 123456789012345680000],
  ["9223372036854775807", "9223372036854775807", undefined, 9223372036854775807],
  ["8Ei", "9223372036854775807", undefined, 9223372036854775807],
  ["-8Ei", "-9223372036854775807", undefined, -9223372036854775807],
  ["7Ei", "7Ei", undefined, 8070450532247929000],
  ["1e400", "10e399", undefined, Infinity],
];

for (const [given, text, integer, float] of printed) {
  Deno.test(`Quantity.parse("${given}") is printed as ${text} and has the integer ${integer} and the float ${float}`, () => {
    const quantity = Quantity.parse(given);
    assert.equal(quantity.toString(), text);
    assert.equal(quantity.asInteger(), integer);
    assert.equal(quantity.asApproximateFloat(), float);
  });
}

// Edge cases of a server's own parser.
const edgeCases: readonly (readonly [given: string, text: string])[] = [
  ["+3", "+3"],
  ["0005", "0005"],
  ["1.250", "1.250"],
  ["1.250k", "1.250k"],
  ["1.Ki", "1.Ki"],
  ["1025Ki", "1025Ki"],
  ["-", "0"],
  [".", "0"],
  ["m", "0"],
  ["Mi", "0"],
  ["1000E", "1"],
  ["-0", "0"],
];

for (const [given, text] of edgeCases) {
  Deno.test(`Quantity.parse("${given}") is printed as ${text}, as by a server`, () => {
    assert.equal(Quantity.parse(given).toString(), text);
  });
}

const FORM = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX = "unable to parse quantity's suffix";
const NUMBER = "unable to parse numeric part of quantity";
const rejected: readonly (readonly [given: string, message: string])[] = [
  ["", FORM],
  ["x", FORM],
  ["1x", FORM],
  ["1 Gi", FORM],
  [" 1", FORM],
  ["--1", SUFFIX],
  ["1,3G", FORM],
  ["1.2.3", FORM],
  ["Three", FORM],
  ["1k3m", FORM],
  ["200K", SUFFIX],
  ["1e", SUFFIX],
  ["1i", SUFFIX],
  ["1-5", SUFFIX],
  ["1e99999999999999999999", SUFFIX],
  ["e-10", NUMBER],
  ["-.e-10", NUMBER],
];

for (const [given, message] of rejected) {
  Deno.test(`Quantity.parse rejects "${given}"`, () => {
    assert.throws(() => Quantity.parse(given), { name: "SyntaxError", message });
  });
}

const sums: readonly { a: string; b: string; sum: string; difference: string; order: number }[] = [
  { a: "50k", b: "20k", sum: "70k", difference: "30k", order: 1 },
  { a: "50k", b: "20", sum: "50020", difference: "49980", order: 1 },
  { a: "1Gi", b: "1G", sum: "2073741824", difference: "73741824", order: 1 },
  { a: "1Gi", b: "1Mi", sum: "1025Mi", difference: "1023Mi", order: 1 },
  { a: "1", b: "1m", sum: "1001m", difference: "999m", order: 1 },
  { a: "0", b: "1Ki", sum: "1Ki", difference: "-1Ki", order: -1 },
  { a: "0Ki", b: "1e3", sum: "1e3", difference: "-1e3", order: -1 },
  { a: "1Ki", b: "-1", sum: "1023", difference: "1025", order: 1 },
  { a: "200M", b: "0.2G", sum: "400M", difference: "0", order: 0 },
  { a: "-1", b: "-2", sum: "-3", difference: "1", order: 1 },
  { a: "-1", b: "1", sum: "0", difference: "-2", order: -1 },
  { a: "9E", b: "9E", sum: "18E", difference: "0", order: 0 },
  {
    a: "123456789012345678901234567890",
    b: "1n",
    sum: "123456789012345678901234567890000000001n",
    difference: "123456789012345678901234567889999999999n",
    order: 1,
  },
  { a: "1E", b: "1n", sum: "1000000000000000000000000001n", difference: "999999999999999999999999999n", order: 1 },
];

for (const { a, b, sum, difference, order } of sums) {
  Deno.test(`Quantity adds, subtracts and compares ${a} and ${b}`, () => {
    const [left, right] = [Quantity.parse(a), Quantity.parse(b)];
    assert.equal(left.add(right).toString(), sum);
    assert.equal(left.subtract(right).toString(), difference);
    assert.equal(left.compare(right), order);
    assert.equal(right.compare(left), order === 0 ? 0 : -order);
    assert.deepEqual([left.toString(), right.toString()], [a, b].map((text) => Quantity.parse(text).toString()));
  });
}

Deno.test("Quantity.subtract wraps around for the smallest 64-bit integer, as a server does", () => {
  const smallest = Quantity.of(-(2n ** 63n), "DecimalExponent");
  assert.equal(Quantity.parse("1").subtract(smallest).toString(), "-9223372036854775807");
});

Deno.test("Quantity.compare is fast for quantities of billions of digits", () => {
  const [huge, tiny] = [Quantity.parse("1e2000000000"), Quantity.parse("1e-2000000000")];
  assert.equal(huge.compare(Quantity.parse("1")), 1);
  assert.equal(Quantity.parse("-1").compare(huge), -1);
  assert.equal(tiny.toString(), "1e-9");
  assert.equal(huge.asApproximateFloat(), Infinity);
});

Deno.test("Quantity.add rejects operands whose magnitudes differ by billions of digits", () => {
  assert.throws(() => Quantity.parse("1e2000000000").add(Quantity.parse("1")), {
    name: "RangeError",
    message: "Cannot add quantities: their magnitudes differ by 2000000000 digits, but the maximum is 100000.",
  });
});

Deno.test("Quantity.add and Quantity.subtract undo each other, and compare agrees with the sign of the difference", () => {
  const amounts = fc.tuple(
    fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }),
    fc.constantFrom("", "n", "u", "m", "k", "M", "Ki", "Mi", "e3", "e-3"),
  ).map(([digits, suffix]) => Quantity.parse(`${digits}${suffix}`));
  fc.assert(fc.property(amounts, amounts, (a, b) => {
    assert.equal(a.add(b).subtract(b).compare(a), 0);
    assert.equal(a.compare(b), a.subtract(b).sign);
  }));
});
