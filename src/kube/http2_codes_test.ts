import assert from "node:assert/strict";
import { type Goodbye, nameOfCode, readGoodbye } from "./http2_codes.ts";

const CASES: { name: string; given: [last: number, code: number, text: string][]; expected: Omit<Goodbye, "last"> }[] =
  [
    { name: "without a text", given: [[1, 0, ""]], expected: { code: 0, told: "NO_ERROR" } },
    {
      name: "with a text",
      given: [[1, 11, "too_many_pings"]],
      expected: { code: 11, told: 'ENHANCE_YOUR_CALM ("too_many_pings")' },
    },
    { name: "a code that nobody knows", given: [[1, 99, ""]], expected: { code: 99, told: "code 99" } },
    {
      name: "a text that a terminal would obey",
      given: [[1, 2, 'über \x1b[31m\n"all"\x9b\u202e']],
      expected: { code: 2, told: 'INTERNAL_ERROR ("über  [31m \\"all\\"")' },
    },
    {
      name: "a text without end",
      given: [[1, 2, "x".repeat(10_000)]],
      expected: { code: 2, told: `INTERNAL_ERROR ("${"x".repeat(200)}")` },
    },
    { name: "peace, then trouble", given: [[9, 0, ""], [1, 2, ""]], expected: { code: 2, told: "INTERNAL_ERROR" } },
    {
      name: "trouble, then peace",
      given: [[9, 2, "a"], [1, 0, ""]],
      expected: { code: 2, told: 'INTERNAL_ERROR ("a")' },
    },
  ];
for (const { name, given, expected } of CASES) {
  Deno.test(`what a server says when it goes is told in a line: ${name}`, () => {
    let before: Goodbye | undefined;
    for (const [last, code, text] of given) {
      before = readGoodbye(Uint8Array.of(0, 0, 0, last, 0, 0, 0, code, ...new TextEncoder().encode(text)), before);
    }
    assert.deepEqual(before, { ...expected, last: 1 });
  });
}

Deno.test("the last stream that a server looks at is read without the bit that means nothing", () => {
  assert.equal(readGoodbye(Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0), undefined).last, 2 ** 31 - 1);
});

Deno.test("codes have the names of the specification", () => {
  assert.deepEqual([0, 7, 8, 13, 14].map(nameOfCode), [
    "NO_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "HTTP_1_1_REQUIRED",
    "code 14",
  ]);
});
