import assert from "node:assert/strict";
import fc from "fast-check";
import { isoTime } from "./iso_time.ts";

Deno.test("isoTime equals toISOString", () => {
  const times = [
    0,
    -1,
    1,
    951_782_400_000,
    -62_167_219_200_000,
    -62_167_219_200_001,
    253_402_300_800_000,
    8.64e15,
    -8.64e15,
  ];
  for (const time of times) assert.equal(isoTime(time), new Date(time).toISOString());
  fc.assert(fc.property(fc.date({ noInvalidDate: true }), (date) => {
    assert.equal(isoTime(date.getTime()), date.toISOString());
  }));
});

Deno.test("isoTime rejects an invalid time", () => {
  for (const time of [NaN, Infinity, 8.64e15 + 1]) assert.throws(() => isoTime(time), RangeError);
});
