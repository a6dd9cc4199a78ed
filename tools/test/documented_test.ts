import assert from "node:assert/strict";
import { type Documentation, errorsOf, type Finding, parseFindings, withoutExample } from "./documented.ts";

const ROOT = new URL("file:///home/me/the%20sdk/");

const LINTED =
  `\u001b[1m\u001b[31merror[private-type-ref]\u001b[0m: public type 'Kind["types"]' references private type 'types'
  --> /home/me/the sdk/src/kind.ts:12:3
   |
12 |   readonly [types]?: unknown;
   |   ^

error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 --> /home/me/the sdk/src/kinds/core_v1.gen.ts:7:1
  |

error[missing-jsdoc]: exported symbol is missing JSDoc documentation
   --> /home/me/the sdk/mod.ts:104:8
    |

error: Found 3 documentation lint errors.
`;

const missing = (place: string): Finding => ({ code: "missing-jsdoc", message: "it is missing", place });
const unnamed = (name: string): Finding => ({
  code: "private-type-ref",
  message: `public type 'get' references private type '${name}'`,
  place: "a.ts:1",
});

Deno.test("parseFindings parses each finding with its place, colored or not, without the count at the end", () => {
  assert.deepEqual(parseFindings(LINTED, ROOT).map(({ code, place }) => `${code} ${place}`), [
    "private-type-ref src/kind.ts:12",
    "missing-jsdoc src/kinds/core_v1.gen.ts:7",
    "missing-jsdoc mod.ts:104",
  ]);
});

Deno.test("errorsOf returns missing documentation, except of generated files", () => {
  assert.deepEqual(errorsOf([missing("src/kinds/core_v1.gen.ts:7"), missing("mod.ts:104")], {}), [
    "mod.ts:104: it is missing",
  ]);
});

Deno.test("errorsOf allows the private types that users need not name, and no others", () => {
  assert.deepEqual(errorsOf([unnamed("types"), unnamed("Options")], { "has no value": ["types"] }), [
    "a.ts:1: public type 'get' references private type 'Options'",
  ]);
});

Deno.test("errorsOf returns names of its list that no longer exist, also if only generated files have them", () => {
  const generated = { ...unnamed("types"), place: "src/kinds/core_v1.gen.ts:7" };
  const [error, ...others] = errorsOf([generated], { "has no value": ["types"] });
  assert.match(error ?? "", /^types is no longer a private type of a public signature/);
  assert.deepEqual(others, []);
});

Deno.test("withoutExample returns each value without an example that a user could write, but no types", () => {
  const declared = (kind: string, tags: string[] = []) => ({
    kind,
    location: { filename: `${ROOT}src/a.ts`, line: 8 },
    jsDoc: { tags: tags.map((doc) => ({ kind: doc === "param" ? "param" : "example", doc })) },
  });
  const usual = 'import { shown } from "@op/sdk/testing";';
  const symbols = [
    { name: "Duration", declarations: [declared("typeAlias")] },
    { name: "shown", declarations: [declared("function"), declared("function", ["param", usual])] },
    { name: "Client", declarations: [declared("class", ["param"])] },
    { name: "inside", declarations: [declared("variable", ['import { inside } from "./a.ts";'])] },
  ];
  const documentation: Documentation = { nodes: { "mod.ts": { symbols }, "src/a.ts": { symbols } } };
  assert.deepEqual(withoutExample(documentation, ROOT), [
    "src/a.ts:9: Client has no example",
    'src/a.ts:9: no example of inside imports it from an entry point of "@op/sdk"',
  ]);
});
