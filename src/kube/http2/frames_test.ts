import assert from "node:assert/strict";
import { codeName, type GoAway, PayloadBuffer, readGoAway } from "./frames.ts";

const CASES: { name: string; given: [last: number, code: number, text: string][]; expected: Omit<GoAway, "last"> }[] = [
  { name: "without debug data", given: [[1, 0, ""]], expected: { code: 0, reason: "NO_ERROR" } },
  {
    name: "with debug data",
    given: [[1, 11, "too_many_pings"]],
    expected: { code: 11, reason: 'ENHANCE_YOUR_CALM ("too_many_pings")' },
  },
  { name: "an unknown code", given: [[1, 99, ""]], expected: { code: 99, reason: "code 99" } },
  {
    name: "debug data with control characters",
    given: [[1, 2, 'über \x1b[31m\n"all"\x9b\u202e']],
    expected: { code: 2, reason: 'INTERNAL_ERROR ("über  [31m \\"all\\"")' },
  },
  {
    name: "long debug data",
    given: [[1, 2, "x".repeat(10_000)]],
    expected: { code: 2, reason: `INTERNAL_ERROR ("${"x".repeat(200)}")` },
  },
  { name: "NO_ERROR, then an error", given: [[9, 0, ""], [1, 2, ""]], expected: { code: 2, reason: "INTERNAL_ERROR" } },
  {
    name: "an error, then NO_ERROR",
    given: [[9, 2, "a"], [1, 0, ""]],
    expected: { code: 2, reason: 'INTERNAL_ERROR ("a")' },
  },
];
for (const { name, given, expected } of CASES) {
  Deno.test(`readGoAway returns the reason in one line: ${name}`, () => {
    let before: GoAway | undefined;
    for (const [last, code, text] of given) {
      before = readGoAway(Uint8Array.of(0, 0, 0, last, 0, 0, 0, code, ...new TextEncoder().encode(text)), before);
    }
    assert.deepEqual(before, { ...expected, last: 1 });
  });
}

Deno.test("readGoAway ignores the reserved bit of the last stream", () => {
  assert.equal(readGoAway(Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0), undefined).last, 2 ** 31 - 1);
});

Deno.test("codeName returns the names of RFC 9113", () => {
  assert.deepEqual([0, 7, 8, 13, 14].map(codeName), [
    "NO_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "HTTP_1_1_REQUIRED",
    "code 14",
  ]);
});

Deno.test("PayloadBuffer returns the payloads in order, whatever their sizes", () => {
  for (const sizes of [[], [0], [1, 1, 1], [40_000, 1, 40_000], [1, 200_000, 0, 7], Array(5000).fill(13)]) {
    const buffer = new PayloadBuffer();
    const all: number[] = [];
    sizes.forEach((size, i) => {
      const payload = new Uint8Array(size).fill(i % 251);
      buffer.add(payload);
      for (const byte of payload) all.push(byte);
      // The caller reuses its buffer.
      payload.fill(255);
    });
    assert.equal(buffer.length, all.length);
    assert.deepEqual(buffer.bytes, Uint8Array.from(all));
  }
});
