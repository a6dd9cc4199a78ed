import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { operatorFolder } from "../_operator_folder.ts";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";

const ROOT = new URL("../../", import.meta.url);

/** Prints the definitions of an operator with one kind. */
async function printed(spec: string, imports = ""): Promise<RecordedIo> {
  // In a folder of the repository, so that its import map applies, and that git ignores.
  await Deno.mkdir(new URL(".cache/builds/", ROOT), { recursive: true });
  const folder = await Deno.makeTempDir({ dir: new URL(".cache/builds/", ROOT).pathname });
  try {
    await Deno.writeTextFile(
      `${folder}/main.ts`,
      `import { controller, operator, resource, s } from "${ROOT.href}mod.ts";
${imports}
const Thing = resource({ group: "demo.example.com", version: "v1", kind: "Thing", spec: ${spec} });
const things = controller(Thing, { reconcile() {} });
export default operator({ name: "things", parts: { things } });
`,
    );
    const io = new RecordedIo(folder);
    assert.equal(await cli(["crd", "print"], io), 0, io.stderr);
    return io;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("op crd print writes YAML without aliases", async () => {
  const io = await printed("s.object({ a: PORT, b: PORT })", "const PORT = s.object({ number: s.integer() });");
  const [crd, ...more] = parseAllDocuments(io.stdout).map((document) => document.toJS());
  assert.deepEqual(more, []);
  assert.equal(crd.metadata.name, "things.demo.example.com");
  assert.doesNotMatch(io.stdout, /[&*]a\d/);
  assert.equal(io.stderr, "");
});

const VERSIONS = (columns: string) => `
const names = { group: "demo.example.com", kind: "Note" };
const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }), columns: { Text: ".spec.text" } });
const Note = resource({ ...names, version: "v2", spec: s.object({ words: s.string() }), versions: [NoteV1], ${columns} });
const notes = controller(Note, { reconcile() {} });
`;
const CONVERTED = `
const noteV1 = conversion(NoteV1, Note, { up: ({ spec }) => ({ spec: { words: spec.text } }), down: ({ spec }) => ({ spec: { text: spec.words } }) });
export default operator({ name: "notes", parts: { notes, noteV1 } });
`;
const PLAIN = `export default operator({ name: "notes", parts: { notes } });`;

const WARNINGS: readonly { readonly name: string; readonly body: string; readonly expected: readonly RegExp[] }[] = [
  {
    name: "none about versions that a conversion covers",
    body: VERSIONS('columns: { Words: ".spec.words" }') + CONVERTED,
    expected: [],
  },
  {
    name: "one about the version that kubectl shows, which has no columns",
    body: VERSIONS("") + CONVERTED,
    expected: [/^Warning: notes\.demo\.example\.com: "kubectl get" shows "v2", /],
  },
  {
    name: "those about fields that are lost without a conversion",
    body: VERSIONS('columns: { Words: ".spec.words" }') + PLAIN,
    expected: [/written through "v1" are lost, .*"\.spec\.text"/, /updated through "v1" loses .*"\.spec\.words"/],
  },
];

for (const { name, body, expected } of WARNINGS) {
  Deno.test(`op crd print and op generate print the same warnings: ${name}`, async () => {
    await using folder = await operatorFolder(body);
    await folder.write("main.ts", (await folder.read("main.ts")).replace("controller,", "controller, conversion,"));
    const printed = (await folder.op("crd", "print")).stderr;
    const lines = printed.split("\n").slice(0, -1);
    assert.equal(lines.length, expected.length, printed);
    for (const [i, line] of lines.entries()) assert.match(line, expected[i]!);
    assert.equal((await folder.op("generate", "crd")).stderr, printed);
    assert.equal((await folder.op("generate", "manifests", "--check")).stderr.startsWith(printed), true);
  });
}

Deno.test("op crd print warns about a definition that kubectl apply would reject", async () => {
  const io = await printed(
    "s.object({ a: PodSpec, b: s.optional(PodSpec) })",
    `import { PodSpec } from "${ROOT.href}src/kinds/schemas/full/mod.ts";`,
  );
  assert.match(io.stdout, /^---\napiVersion: apiextensions\.k8s\.io\/v1\n/);
  assert.match(io.stderr, /^Warning: things\.demo\.example\.com: it has \d+ KiB, and "kubectl apply" rejects .*\n$/);
});
