import assert from "node:assert/strict";
import { warningHeaders } from "./warning_headers.ts";

Deno.test("warningHeaders quotes each distinct warning and encodes it in UTF-8", () => {
  const headers = warningHeaders(['unknown field "spec.é"', "a\\b", 'unknown field "spec.é"', ""]);

  assert.deepEqual(headers, ['299 - "unknown field \\"spec.\xc3\xa9\\""', '299 - "a\\\\b"']);
  assert.equal(new Headers(headers.map((value) => ["warning", value])).get("warning"), headers.join(", "));
});

Deno.test("warningHeaders omits warnings with control characters", () => {
  assert.deepEqual(warningHeaders(["a\nb", "c\x85d", "e"]), ['299 - "e"']);
});

Deno.test("warningHeaders truncates warnings that are too long in total, and drops the rest", () => {
  const letters = [..."abcdefghijklmnopqrst"];
  const headers = warningHeaders(letters.map((letter) => letter.repeat(1000)));

  assert.deepEqual(headers, letters.slice(0, 16).map((letter) => `299 - "${letter.repeat(256)}"`));
});
