import assert from "node:assert/strict";
import { addPart, linesFor } from "./add_part.ts";

const PART = { key: "caches", from: "./cache/controller.ts" };
const HEAD = 'import { operator } from "@op/sdk";\nimport { caches } from "./cache/controller.ts";\n';

/** The code below the imports, before and after the edit. */
const CASES = [
  {
    name: "an object on one line",
    before: 'const op = operator({ name: "a", parts: { websites } });\n',
    after: 'const op = operator({ name: "a", parts: { websites, caches } });\n',
  },
  {
    name: "an empty object",
    before: "operator({ parts: {}, name: `a` });\n",
    after: "operator({ parts: { caches }, name: `a` });\n",
  },
  {
    name: "an empty object on two lines",
    before: "operator({\n  parts: {\n  },\n});\n",
    after: "operator({\n  parts: {\n    caches,\n  },\n});\n",
  },
  {
    name: "lines with a comma at the end",
    before: "operator({\n  parts: {\n    websites,\n    more: other({ a: [1, 2] }),\n  },\n});\n",
    after: "operator({\n  parts: {\n    websites,\n    more: other({ a: [1, 2] }),\n    caches,\n  },\n});\n",
  },
  {
    name: "lines without a comma at the end, and a comment",
    before: "operator({\n\tparts: {\n\t\twebsites // { the sites }\n\t}\n});\n",
    after: "operator({\n\tparts: {\n\t\twebsites, // { the sites }\n\t\tcaches,\n\t}\n});\n",
  },
  {
    name: "a constant named parts",
    before: 'const parts = { "web-sites": websites };\nexport default operator({ name: "a", parts });\n',
    after: 'const parts = { "web-sites": websites, caches };\nexport default operator({ name: "a", parts });\n',
  },
  {
    name: "a constant of another name, with a type",
    before: "const all: Record<string, Part> = {\n  websites,\n};\noperator<{ db: Db }>({ parts: all });\n",
    after: "const all: Record<string, Part> = {\n  websites,\n  caches,\n};\noperator<{ db: Db }>({ parts: all });\n",
  },
  {
    name: "an object that spreads another",
    before: "operator({ parts: { ...others, websites } });\n",
    after: "operator({ parts: { ...others, websites, caches } });\n",
  },
];

for (const { name, before, after } of CASES) {
  Deno.test(`addPart adds to ${name}`, () => {
    assert.equal(addPart(`import { operator } from "@op/sdk";\n${before}`, PART), HEAD + after);
  });
}

const IMPORTS = [
  'import { controller as c, operator as make } from "@op/sdk"; // the SDK',
  'import * as make_ from "@op/sdk";',
  'import { type Infer, operator as make, s } from "jsr:@op/sdk@^0.1.0"',
];

Deno.test("addPart finds operator() under any imported name, and keeps comments after imports", () => {
  for (const line of IMPORTS) {
    const call = line.includes("*") ? "make_.operator" : "make";
    assert.equal(
      addPart(`${line}\nexport default ${call}({ parts: {} });\n`, PART),
      `${line}\nimport { caches } from "./cache/controller.ts";\nexport default ${call}({ parts: { caches } });\n`,
    );
  }
});

const REJECTED = [
  { name: "a module without a call", code: "export const a = 1;", message: /^it does not call operator\(\)$/ },
  {
    name: "a call with a string",
    code: 'operator("x");',
    message: /not called with an object literal/,
  },
  {
    name: "two calls",
    code: "operator({ parts: {} }); operator({ parts: {} });",
    message: /calls operator\(\) 2 times/,
  },
  { name: "options in a variable", code: "operator(options);", message: /not called with an object literal/ },
  { name: "options that spread another object", code: "operator({ ...options });", message: /has no property "parts"/ },
  {
    name: "parts that a function returns",
    code: "operator({ parts: all() });",
    message: /neither an object literal nor a variable/,
  },
  {
    name: "parts that are imported",
    code: "operator({ parts });",
    message: /"parts", which has the parts, is not an object/,
  },
  { name: "a key that exists", code: "operator({ parts: { caches: x } });", message: /it already has a part "caches"/ },
  {
    name: "a name that the module uses",
    code: "const caches = 1; operator({ parts: {} });",
    message: /it already uses the name "caches"/,
  },
  { name: "an unclosed string", code: 'operator({ parts: {} }); "', message: /an unclosed string/ },
  { name: "an unclosed bracket", code: "operator({ parts: {} ", message: /an unclosed bracket/ },
];

for (const { name, code, message } of REJECTED) {
  Deno.test(`addPart rejects ${name}`, () => {
    assert.throws(() => addPart(`import { operator } from "@op/sdk";\n${code}`, PART), (error: Error) => {
      assert.equal(error.name, "ModuleEditError");
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("linesFor returns the lines to add by hand", () => {
  assert.equal(
    linesFor(PART),
    'import { caches } from "./cache/controller.ts";\noperator({ ..., parts: { ..., caches } })\n',
  );
});
