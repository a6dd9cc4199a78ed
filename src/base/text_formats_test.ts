import assert from "node:assert/strict";
import { isBase64, isDate, isDateTime, isUuid } from "./text_formats.ts";

const cases: readonly { is: (text: string) => boolean; valid: readonly string[]; invalid: readonly string[] }[] = [
  {
    is: isDate,
    valid: ["2026-02-28", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"],
    invalid: [
      "",
      "2026-02-29",
      "1900-02-29",
      "2026-00-01",
      "2026-13-01",
      "2026-04-31",
      "2026-01-00",
      "2026-1-1",
      "26-01-01",
    ],
  },
  {
    is: isDateTime,
    valid: [
      "2026-01-01T00:00:00Z",
      "2026-01-01t23:59:59z",
      "2026-01-01T00:00:00.123456789Z",
      "2026-01-01T00:00:00,5Z",
      "2026-01-01T00:00:00+99:99",
      "2026-01-01T00:00:00Zt and more",
    ],
    invalid: [
      "",
      "2026-01-01",
      "2026-01-01T00:00:00",
      "2026-02-29T00:00:00Z",
      "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z",
      "2026-01-01T00:00:60Z",
      "2026-01-01T00:00:00+0100",
      "2026-01-01 00:00:00Z",
    ],
  },
  {
    is: isUuid,
    valid: ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000"],
    invalid: ["", "123e4567-e89b-12d3-a456-42661417400", "123g4567-e89b-12d3-a456-426614174000"],
  },
  {
    is: isBase64,
    valid: ["aGVsbG8=", "aGVs", "YQ==", "+/+/"],
    invalid: ["", "aGVsbG8", "a===", "YQ==YQ==", "aGV_", "aGVs\n", "=aGV"],
  },
];

for (const { is, valid, invalid } of cases) {
  for (const text of valid) Deno.test(`${is.name} accepts ${JSON.stringify(text)}`, () => assert(is(text)));
  for (const text of invalid) Deno.test(`${is.name} rejects ${JSON.stringify(text)}`, () => assert(!is(text)));
}
