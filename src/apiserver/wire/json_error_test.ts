import assert from "node:assert/strict";
import { jsonTextError } from "./json_error.ts";

const CASES: readonly (readonly [text: string, error: string | undefined])[] = [
  ['{"a":[1,-2.5e+3,true,null,"\\u00e9"]} ', undefined],
  ["", "unexpected end of JSON input"],
  ['{"a"', "unexpected end of JSON input"],
  ["nothing", "invalid character 'o' in literal null (expecting 'u')"],
  ["{a}", "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 2}', "invalid character '2' after object key:value pair"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ["[1,]", "invalid character ']' looking for beginning of value"],
  ["[1 2]", "invalid character '2' after array element"],
  ["1 2", "invalid character '2' after top-level value"],
  ["-a", "invalid character 'a' in numeric literal"],
  ["1.x", "invalid character 'x' after decimal point in numeric literal"],
  ["1ex", "invalid character 'x' in exponent of numeric literal"],
  ['"\\x"', "invalid character 'x' in string escape code"],
  ['"\\u00g0"', "invalid character 'g' in \\u hexadecimal character escape"],
  ['"\n"', "invalid character '\\n' in string literal"],
  ["é", "invalid character 'Ã' looking for beginning of value"],
  ["\u0000", "invalid character '\\x00' looking for beginning of value"],
];

for (const [text, error] of CASES) {
  Deno.test(`jsonTextError returns ${error === undefined ? "no message" : "Go's message"} for ${JSON.stringify(text)}`, () =>
    assert.equal(jsonTextError(text), error));
}
