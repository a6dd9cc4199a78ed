import assert from "node:assert/strict";
import { exportedName, versionText, withVersion } from "./version_text.ts";

const NEW_VERSION = { kind: "Note", stored: "v1", version: "v2", name: "NoteV2", key: "noteV2" };

const module = (options: string, before = ""): string =>
  `/** Note, version v1. */
import { resource, s } from "@op/sdk";
${before}
// v1 stays here
export const Note = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Note",${options}
  spec: s.object({}),
});
`;

const CASES: readonly { readonly name: string; readonly code: string; readonly expected: string }[] = [
  {
    name: "no versions yet",
    code: module(""),
    expected: module("").replace('"@op/sdk";\n', '"@op/sdk";\nimport { Note as NoteV2 } from "./v2.ts";\n')
      .replace("s.object({}),\n", "s.object({}),\n  versions: [NoteV2],\n"),
  },
  {
    name: "another version",
    code: module("\n  versions: [NoteV0],", 'import { Note as NoteV0 } from "./v0.ts";\n'),
    expected: module(
      "\n  versions: [NoteV0, NoteV2],",
      'import { Note as NoteV0 } from "./v0.ts";\nimport { Note as NoteV2 } from "./v2.ts";\n',
    ),
  },
  {
    name: "an empty list",
    code: module("\n  versions: [],"),
    expected: module("\n  versions: [ NoteV2 ],").replace(
      '"@op/sdk";\n',
      '"@op/sdk";\nimport { Note as NoteV2 } from "./v2.ts";\n',
    ),
  },
];

for (const { name, code, expected } of CASES) {
  Deno.test(`withVersion adds a new version to the module of the stored one: ${name}`, () => {
    assert.equal(withVersion(code, NEW_VERSION), expected);
  });
}

Deno.test("versionText copies the module of the stored version with the new version", () => {
  assert.equal(
    versionText(module(""), NEW_VERSION),
    module("").replace("version v1.", "version v2.").replace('version: "v1"', 'version: "v2"'),
  );
});

Deno.test("versionText removes the list of versions and their imports", () => {
  const code = module('\n  versions: [NoteV0],\n  storage: "v1",', 'import { Note as NoteV0 } from "./v0.ts";\n');
  assert.equal(
    versionText(code, NEW_VERSION),
    module("").replace("version v1.", "version v2.").replace('version: "v1"', 'version: "v2"'),
  );
});

Deno.test("exportedName returns the name of the kind's constant", () => {
  assert.equal(exportedName(module("").replace("const Note", "const NoteV1"), "v1"), "NoteV1");
});

const REJECTED: readonly { readonly name: string; readonly code: string; readonly message: RegExp }[] = [
  { name: "no kind", code: "export {};\n", message: /does not call resource\(\)/ },
  {
    name: "two kinds",
    code: `${module("")}const Other = resource({ version: "v1" });\n`,
    message: /calls resource\(\) 2 times/,
  },
  {
    name: "a constant that is not exported",
    code: module("").replace("export ", ""),
    message: /not exported as a constant/,
  },
  {
    name: "a version in a variable",
    code: module("").replace('version: "v1"', "version"),
    message: /does not have "version: "v1""/,
  },
  {
    name: "options in a variable",
    code: 'import { resource } from "@op/sdk";\nexport const Note = resource(options);\n',
    message: /object literal/,
  },
  {
    name: "an operator",
    code: module("").replace("{ resource,", "{ operator, resource,") + "export default operator({});\n",
    message: /it also calls operator\(\)/,
  },
  {
    name: "a name that the module uses",
    code: `${module("")}const NoteV2 = 1;\n`,
    message: /it already uses the name "NoteV2"/,
  },
  { name: "versions in a variable", code: module("\n  versions,"), message: /"versions" are not an array literal/ },
  { name: "a syntax error", code: "export const a = `", message: /an unclosed template/ },
];

for (const { name, code, message } of REJECTED) {
  Deno.test(`withVersion rejects a module that it cannot edit: ${name}`, () => {
    assert.throws(() => withVersion(code, NEW_VERSION), { name: "ModuleEditError", message });
  });
}
