import assert from "node:assert/strict";
import { parse } from "yaml";
import { applyBody } from "./apply_body.ts";

const CASES: readonly { name: string; text: string; expected: string }[] = [
  { name: "DEL", text: "\x7f", expected: "\\u007f" },
  { name: "the first and the last C1 control", text: "\x80\x9f", expected: "\\u0080\\u009f" },
  {
    name: "YAML line breaks that are not line breaks in JSON",
    text: "\x85\u2028\u2029",
    expected: "\\u0085\\u2028\\u2029",
  },
  { name: "noncharacters and the byte order mark", text: "\ufffe\uffff\ufeff", expected: "\\ufffe\\uffff\\ufeff" },
];

for (const { name, text, expected } of CASES) {
  Deno.test(`applyBody escapes ${name}, in field names and values`, () => {
    const body = applyBody({ [`key${text}`]: `value${text}` });
    assert.equal(body, `{"key${expected}":"value${expected}"}`);
    assert.deepEqual(JSON.parse(body), { [`key${text}`]: `value${text}` });
  });
}

Deno.test("applyBody writes all other characters as JSON.stringify does", () => {
  const object = { text: `a\n\t"\\\x00\x1b é\xa0漢\ud7ff\ue000\ufffd😀${String.fromCodePoint(0x1fffe)}` };
  assert.equal(applyBody(object), JSON.stringify(object));
  assert.deepEqual(parse(applyBody(object)), object);
});
