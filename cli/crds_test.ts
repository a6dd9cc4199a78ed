import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";

const ROOT = new URL("../", import.meta.url);

/** Prints the definitions of an operator with one kind. */
async function printed(spec: string, imports = ""): Promise<RecordedIo> {
  // Inside the repository, so that its import map counts; in a folder that git ignores.
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
    assert.equal(await cli(["crds"], io), 0, io.stderr);
    return io;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("op crds prints definitions as YAML in which nothing refers to something else", async () => {
  const io = await printed("s.object({ a: PORT, b: PORT })", "const PORT = s.object({ number: s.integer() });");
  const [crd, ...more] = parseAllDocuments(io.stdout).map((document) => document.toJS());
  assert.deepEqual(more, []);
  assert.equal(crd.metadata.name, "things.demo.example.com");
  assert.doesNotMatch(io.stdout, /[&*]a\d/);
  assert.equal(io.stderr, "");
});

Deno.test("op crds warns of a definition that kubectl apply would refuse", async () => {
  const io = await printed(
    "s.object({ a: PodSpec, b: s.optional(PodSpec) })",
    `import { PodSpec } from "${ROOT.href}src/kinds/schemas/full/mod.ts";`,
  );
  assert.match(io.stdout, /^---\napiVersion: apiextensions\.k8s\.io\/v1\n/);
  assert.match(io.stderr, /^Warning: things\.demo\.example\.com: it has \d+ KiB, and "kubectl apply" refuses .*\n$/);
});
