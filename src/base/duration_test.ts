import assert from "node:assert/strict";
import { type Duration, duration, milliseconds } from "./duration.ts";

Deno.test("milliseconds parses each unit", async (t) => {
  const cases: readonly (readonly [Duration, number])[] = [
    ["5ms", 5],
    ["90s", 90_000],
    ["10m", 600_000],
    ["1.5h", 5_400_000],
    ["0s", 0],
  ];
  for (const [text, expected] of cases) await t.step(text, () => assert.equal(milliseconds(text), expected));
});

Deno.test("milliseconds rejects an invalid duration", async (t) => {
  for (const text of ["", "5", "s", "-5s", "1e3s", "5 s", "5d", "5s5s", " 5s", "5S", "Infinitys"]) {
    await t.step(`"${text}"`, () => {
      assert.throws(() => milliseconds(text as Duration), {
        name: "SyntaxError",
        message: `Invalid duration "${text}": must be a number followed by "ms", "s", "m" or "h".`,
      });
    });
  }
});

Deno.test("Duration is a string with a number and a unit", () => {
  "5s" satisfies Duration;
  // @ts-expect-error a day is not a unit
  "5d" satisfies Duration;
  // @ts-expect-error a bare number has no unit
  "5" satisfies Duration;
});

Deno.test("duration parses what a server accepts", async (t) => {
  const cases: readonly (readonly [string, number])[] = [
    ["1h30m", 5_400_000],
    ["1.5s", 1500],
    ["0", 0],
    ["3 days 2 hours", 266_400_000],
    ["1w", 604_800_000],
    ["1us", 0.001],
    ["999ns", 0],
    ["2562047h47m16.854775807s", 9_223_372_036_854.775],
  ];
  for (const [text, expected] of cases) {
    await t.step(text, () => assert.equal(milliseconds(duration(text)), expected));
  }
});

Deno.test("duration rejects invalid and negative durations", () => {
  assert.throws(() => duration("soon"), {
    name: "SyntaxError",
    message: 'Invalid duration "soon". Write it like "1h30m" or "2 days".',
  });
  assert.throws(() => duration("-5m"), {
    name: "SyntaxError",
    message: 'Invalid duration "-5m": must not be negative.',
  });
});
