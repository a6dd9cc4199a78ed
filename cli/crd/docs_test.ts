import assert from "node:assert/strict";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";
import { crdDocs } from "./docs.ts";

const GOLDEN = new URL("../../tests/golden/", import.meta.url).pathname;
const WEBSITE = new URL("../../examples/01_website/main.ts", import.meta.url).pathname;

/** Calls a function with an Io in a temporary folder. */
async function withFolder(use: (io: RecordedIo) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(new RecordedIo(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("op crd docs prints the page of a file of definitions", async () => {
  const io = new RecordedIo(GOLDEN);
  assert.equal(await cli(["crd", "docs", "crd_docs.yaml"], io), 0, io.stderr);
  assert.equal(io.stdout, await Deno.readTextFile(`${GOLDEN}crd_docs.txt`));
  assert.equal(io.stderr, "");
});

Deno.test("op crd docs reads JSON from standard input", async () => {
  const io = new RecordedIo();
  const list = { apiVersion: "v1", kind: "List", items: [definition("Thing"), definition("Other")] };
  await crdDocs("-", {}, io, () => Promise.resolve(JSON.stringify(list)));
  assert.match(io.stdout, /^- \[Thing\]\(#Thing\), `example.com`\n- \[Other\]/);
});

Deno.test("op crd docs prints the page of an operator's kinds", async () => {
  const io = new RecordedIo();
  assert.equal(await cli(["crd", "docs", WEBSITE], io), 0, io.stderr);
  assert.match(io.stdout, /^<a id="Website"><\/a>\n\n# Website\n/);
  assert.match(io.stdout, /`host` \| `string/);

  const printed = new RecordedIo();
  assert.equal(await cli(["crd", "print", WEBSITE], printed), 0, printed.stderr);
  const read = new RecordedIo();
  await crdDocs("-", {}, read, () => Promise.resolve(printed.stdout));
  assert.equal(read.stdout, io.stdout);
});

Deno.test("op crd docs overwrites a file only with --force", async () => {
  await withFolder(async (io) => {
    await Deno.writeTextFile(`${io.cwd}/kinds.yaml`, JSON.stringify(definition("Thing")));

    assert.equal(await cli(["crd", "docs", "kinds.yaml", "-o", "KINDS.md"], io), 0, io.stderr);
    const page = await Deno.readTextFile(`${io.cwd}/KINDS.md`);
    assert.match(page, /# Thing/);
    assert.equal(io.stdout, "");

    await Deno.writeTextFile(`${io.cwd}/KINDS.md`, "a file of the user");
    assert.equal(await cli(["crd", "docs", "kinds.yaml", "-o", "KINDS.md"], io), 1);
    assert.equal(io.stderr, 'Cannot write "KINDS.md": the file exists. Name another file, or add --force.\n');
    assert.equal(await Deno.readTextFile(`${io.cwd}/KINDS.md`), "a file of the user");

    assert.equal(await cli(["crd", "docs", "kinds.yaml", "-o", "KINDS.md", "--force"], io), 0, io.stderr);
    assert.equal(await Deno.readTextFile(`${io.cwd}/KINDS.md`), page);
    assert.deepEqual([...Deno.readDirSync(io.cwd)].map(({ name }) => name).sort(), ["KINDS.md", "kinds.yaml"]);
  });
});

const ERRORS = [
  {
    name: "a file that does not exist",
    args: ["nowhere.yaml"],
    code: 1,
    stderr: 'Cannot read "nowhere.yaml": the file does not exist.\n',
  },
  {
    name: "a file of an operator that does not exist",
    args: ["nowhere.ts"],
    code: 1,
    stderr: 'Cannot read "nowhere.ts": the file does not exist. Name the file whose default export is the operator.\n',
  },
  {
    name: "a file without definitions",
    args: ["empty.yaml"],
    code: 1,
    stderr:
      'Cannot find a CustomResourceDefinition in "empty.yaml": it has none. Name another file, or "-" for standard input.\n',
  },
  {
    name: "a definition without a schema",
    args: ["bad.yaml"],
    code: 1,
    stderr:
      /^Cannot read CustomResourceDefinition "things.example.com": "spec.versions" must be a list, got no value.\n$/,
  },
  { name: "a file that is not YAML", args: ["no.yaml"], code: 1, stderr: /^Cannot read "no.yaml": / },
  {
    name: "an output folder that does not exist",
    args: ["good.yaml", "-o", "no/where.md"],
    code: 1,
    stderr: /the folder does not exist\.\n$/,
  },
  {
    name: "--force without --output",
    args: ["good.yaml", "--force"],
    code: 2,
    stderr: "Cannot use --force: it needs a file to overwrite. Name one with --output.\n",
  },
  {
    name: "no argument in a folder without an operator",
    args: [],
    code: 1,
    stderr: 'Cannot read "main.ts": the file does not exist. Name the file whose default export is the operator.\n',
  },
];

Deno.test("op crd docs reports errors and creates no file", async (t) => {
  await withFolder(async (io) => {
    const { spec: { versions: _, ...spec }, ...rest } = definition("Thing");
    const files = {
      "good.yaml": JSON.stringify(definition("Thing")),
      "empty.yaml": "apiVersion: v1\nkind: ConfigMap\n",
      "bad.yaml": JSON.stringify({ ...rest, spec }),
      "no.yaml": "a: b: c: [",
    };
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${io.cwd}/${name}`, text);
    for (const { name, args, code, stderr } of ERRORS) {
      await t.step(`op crd docs reports ${name}`, async () => {
        const own = new RecordedIo(io.cwd);
        assert.equal(await cli(["crd", "docs", ...args], own), code);
        if (typeof stderr === "string") assert.equal(own.stderr, stderr);
        else assert.match(own.stderr, stderr);
        assert.equal(own.stdout, "");
      });
    }
    assert.deepEqual([...Deno.readDirSync(io.cwd)].map(({ name }) => name).sort(), Object.keys(files).sort());
  });
});

function definition(kind: string) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind, plural: `${kind.toLowerCase()}s` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
}
