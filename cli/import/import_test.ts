import assert from "node:assert/strict";
import type { JsonSchema } from "@op/sdk/resource";
import { RecordedIo } from "../_recorded_io.ts";
import { cli } from "../cli.ts";
import { definitionOf } from "./_definition_of.ts";
import { importKind } from "./import.ts";

const SITE = definitionOf({ type: "object", properties: { host: { type: "string" } } }, {
  names: { shortNames: ["st"] },
});
const PAGE = {
  ...SITE,
  metadata: { name: "pages.demo.example.com" },
  spec: { ...SITE.spec, names: { kind: "Page", plural: "pages" } },
};
const MODULE = `/** Site of demo.example.com, from its CustomResourceDefinition by \`op crd import\`. */
import { type Infer, resource, s } from "@op/sdk";

export const Site = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Site",
  external: true,
  shortNames: ["st"],
  spec: s.object({ host: s.optional(s.string()) }),
});
export type Site = Infer<typeof Site>;
`;
const REPORT = "Site: 6 schemas, 0 of them as JSON (0.0 %)\n";

/** Runs a test in a folder with files, and checks that it creates no other files. */
async function withFiles(files: Readonly<Record<string, string>>, test: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
    await test(folder);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), Object.keys(files).sort());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const SOURCES = {
  "site.json": JSON.stringify(SITE),
  "all.yaml": `---\n# no object\n---\nkind: Namespace\n---\n${JSON.stringify(PAGE)}\n---\n${JSON.stringify(SITE)}\n`,
  "list.json": JSON.stringify({ apiVersion: "v1", kind: "List", items: [PAGE, SITE] }),
  "response.json": JSON.stringify({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinitionList",
    items: [SITE].map(({ metadata, spec }) => ({ metadata, spec })),
  }),
};

Deno.test("op crd import prints the module for a file with definitions", async (t) => {
  await withFiles(SOURCES, async (folder) => {
    const argumentLists: readonly string[][] = [
      ["site.json"],
      ["response.json"],
      ...["Site", "sites", "ST", "site", "sites.demo.example.com"].map((kind) => ["all.yaml", "--kind", kind]),
      ["list.json", "--kind", "Site"],
      ["--kind", "Site", "list.json"],
    ];
    for (const args of argumentLists) {
      await t.step(args.join(" "), async () => {
        const io = new RecordedIo(folder);
        assert.equal(await cli(["crd", "import", ...args], io), 0, io.stderr);
        assert.deepEqual([io.stdout, io.stderr], [MODULE, REPORT]);
      });
    }
  });
});

Deno.test("op crd import prints the kinds of a file in their order, and reads standard input", async () => {
  const io = new RecordedIo();
  await importKind("-", {}, io, () => Promise.resolve(SOURCES["all.yaml"]));
  assert.deepEqual(io.stdout.match(/^export const \w+/gm), ["export const Page", "export const Site"]);
});

Deno.test("op crd import writes several kinds in the order in which they are named", async () => {
  await withFiles(SOURCES, async (folder) => {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["crd", "import", "--kind", "sites", "--kind", "pages", "all.yaml"], io), 0, io.stderr);
    assert.deepEqual(io.stdout.match(/^export const \w+/gm), ["export const Site", "export const Page"]);
  });
});

Deno.test("op crd import uses types of Kubernetes without descriptions if the definition has none", async () => {
  const { Toleration } = await import("@op/sdk/schemas");
  const { ResourceRequirements: { description: _, ...described } } = await import("@op/sdk/schemas/full");
  const { ResourceRequirements: bare } = await import("@op/sdk/schemas");
  const source = (resources: JsonSchema) =>
    JSON.stringify(definitionOf({
      type: "object",
      description: "The requested resources.",
      properties: { resources, tolerations: { type: "array", items: Toleration as JsonSchema } },
    }));
  await withFiles({ "bare.json": source(bare), "described.json": source(described) }, async (folder) => {
    for (const [file, module] of [["bare.json", "@op/sdk/schemas"], ["described.json", "@op/sdk/schemas/full"]]) {
      const io = new RecordedIo(folder);
      assert.equal(await cli(["crd", "import", file!], io), 0, io.stderr);
      assert(io.stdout.includes(`import { ResourceRequirements } from "${module}";`), io.stdout);
      assert(io.stdout.includes('description: "The requested resources."'), io.stdout);
    }
  });
});

Deno.test("op crd import overwrites a file only with --force", async () => {
  await withFiles({ ...SOURCES, "site.ts": "edited" }, async (folder) => {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["crd", "import", "site.json", "-o", "site.ts"], io), 1);
    assert.equal(io.stderr, 'Cannot write "site.ts": the file exists. Name another file, or add --force.\n');
    assert.equal(await Deno.readTextFile(`${folder}/site.ts`), "edited");

    const forced = new RecordedIo(folder);
    assert.equal(await cli(["crd", "import", "site.json", "-o", "site.ts", "--force"], forced), 0);
    assert.deepEqual([forced.stdout, forced.stderr], ["", REPORT]);
    assert.equal(await Deno.readTextFile(`${folder}/site.ts`), MODULE);
  });
});

Deno.test("op crd import --report prints differences from the original, and schemas that are written as JSON", async () => {
  const definition = definitionOf({ type: "object", properties: { odd: { type: "string", format: "animal" } } }, {
    spec: { conversion: { strategy: "Webhook" } },
    version: { additionalPrinterColumns: [{ name: "Odd", type: "string", jsonPath: ".spec.even" }] },
  });
  const io = new RecordedIo();
  await importKind("-", { report: true }, io, () => Promise.resolve(JSON.stringify(definition)));
  assert.equal(
    io.stderr,
    `Site: 6 schemas, 1 of them as JSON (16.7 %)
Site: "Site.spec.odd" is written as JSON
Site: "spec.conversion" is omitted. Add a conversion() to the operator instead
Site: "spec.versions[v1].columns" changed from [{"name":"Odd","jsonPath":".spec.even","type":"string","form... to []
`,
  );
});

const [VERSION] = SITE.spec.versions;
const changed = (spec: Record<string, unknown>) => JSON.stringify({ ...SITE, spec: { ...SITE.spec, ...spec } });
const READ_ERROR = 'Cannot read CustomResourceDefinition "sites.demo.example.com": ';

const ERROR_CASES: readonly {
  name: string;
  files: Record<string, string>;
  args: string[];
  code: number;
  message: string;
}[] = [
  {
    name: "a file that does not exist",
    files: {},
    args: ["crd.yaml"],
    code: 1,
    message: 'Cannot read "crd.yaml": the file does not exist.',
  },
  { name: "a folder", files: {}, args: ["."], code: 1, message: 'Cannot read ".": it is a folder. Name a file.' },
  {
    name: "a file without a definition",
    files: { "crd.yaml": "kind: ConfigMap" },
    args: ["crd.yaml"],
    code: 1,
    message:
      'Cannot find a CustomResourceDefinition in "crd.yaml": it has none. Name another file, or "-" for standard input.',
  },
  {
    name: "an empty file",
    files: { "crd.yaml": "" },
    args: ["crd.yaml"],
    code: 1,
    message:
      'Cannot find a CustomResourceDefinition in "crd.yaml": it has none. Name another file, or "-" for standard input.',
  },
  {
    name: "broken YAML",
    files: { "crd.yaml": "kind: CustomResourceDefinition\nspec: [a, b" },
    args: ["crd.yaml"],
    code: 1,
    message:
      `Cannot read "crd.yaml": Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 12:

spec: [a, b
           ^`,
  },
  {
    name: "an alias without an anchor",
    files: { "crd.yaml": "kind: *it" },
    args: ["crd.yaml"],
    code: 1,
    message: 'Cannot read "crd.yaml": Unresolved alias (the anchor must be set before the alias): it',
  },
  {
    name: "v1beta1",
    files: { "crd.json": JSON.stringify({ ...SITE, apiVersion: "apiextensions.k8s.io/v1beta1" }) },
    args: ["crd.json"],
    code: 1,
    message:
      `${READ_ERROR}"apiVersion" is apiextensions.k8s.io/v1beta1, which Kubernetes has not served since 1.22. Use a newer definition from its project, or convert it to apiextensions.k8s.io/v1.`,
  },
  {
    name: "no version",
    files: { "crd.json": changed({ versions: {} }) },
    args: ["crd.json"],
    code: 1,
    message: `${READ_ERROR}"spec.versions" must be a list, got {}.`,
  },
  {
    name: "a version without a schema",
    files: { "crd.json": changed({ versions: [{ ...VERSION, schema: undefined }] }) },
    args: ["crd.json"],
    code: 1,
    message:
      `${READ_ERROR}"spec.versions[0].schema" must be an object, got no value. A version without a schema cannot be served.`,
  },
  {
    name: "no stored version",
    files: { "crd.json": changed({ versions: [{ ...VERSION, storage: false }] }) },
    args: ["crd.json"],
    code: 1,
    message: `${READ_ERROR}"spec.versions" must have exactly one version with storage: true.`,
  },
  {
    name: "a definition that contains itself",
    files: { "crd.yaml": `${JSON.stringify(SITE).slice(0, -1)}, "more": &it { "again": *it } }` },
    args: ["crd.yaml"],
    code: 1,
    message: 'Cannot read "crd.yaml": "more.again" must not contain itself. Remove the alias.',
  },
  {
    name: "a property with a special meaning in JavaScript",
    files: { "crd.json": JSON.stringify(SITE).replace('"host"', '"__proto__"') },
    args: ["crd.json"],
    code: 1,
    message:
      `${READ_ERROR}"spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.__proto__" is not allowed as a name.`,
  },
  {
    name: "a schema that an API server would reject",
    files: {
      "crd.json": JSON.stringify(definitionOf({ type: "object", properties: { host: { type: "text" as "string" } } })),
    },
    args: ["crd.json"],
    code: 1,
    message:
      'Cannot import the schema of "Site.spec.host": Cannot define a raw schema: "type" must be one of "string", "integer", "number", "boolean", "array", "object", got "text"',
  },
  {
    name: "an unknown kind",
    files: { "all.json": SOURCES["list.json"] },
    args: ["all.json", "--kind", "Stie"],
    code: 1,
    message: 'Cannot import "Stie": unknown kind. Did you mean "Site"? Known kinds: "Site", "Page".',
  },
  {
    name: "descriptions of an unknown length",
    files: { "site.json": SOURCES["site.json"] },
    args: ["site.json", "--descriptions", "long"],
    code: 2,
    message: 'Cannot use --descriptions "long": it must be none, short or full.',
  },
  {
    name: "both a file and a kind of a cluster",
    files: {},
    args: ["site.json", "--cluster", "sites"],
    code: 2,
    message: 'Cannot import: "site.json" and --cluster sites are two sources. Remove one of them.',
  },
  {
    name: "an output file for a list of kinds",
    files: {},
    args: ["--cluster", "-o", "out.ts"],
    code: 2,
    message: 'Cannot write "out.ts": --cluster without a kind only lists the kinds. Name a kind.',
  },
  {
    name: "a cluster without a kubeconfig",
    files: {},
    args: ["--cluster", "--kubeconfig", "missing.yaml"],
    code: 1,
    message: 'Cannot read kubeconfig "FOLDER/missing.yaml": it does not exist',
  },
  {
    name: "--force without an output file",
    files: { "site.json": SOURCES["site.json"] },
    args: ["site.json", "--force"],
    code: 2,
    message: "Cannot use --force: it needs a file to overwrite. Name one with --output.",
  },
  {
    name: "an output folder that does not exist",
    files: { "site.json": SOURCES["site.json"] },
    args: ["site.json", "-o", "missing/site.ts"],
    code: 1,
    message: 'Cannot write "missing/site.ts": the folder does not exist.',
  },
];

Deno.test("op crd import reports errors and creates no file", async (t) => {
  for (const { name, files, args, code, message } of ERROR_CASES) {
    await t.step(name, () =>
      withFiles(files, async (folder) => {
        const io = new RecordedIo(folder);
        const exitCode = await cli(["crd", "import", ...args], io);
        assert.deepEqual([exitCode, io.stderr.replace(folder, "FOLDER"), io.stdout], [code, `${message}\n`, ""]);
      }));
  }
});

Deno.test("op crd import of one kind ignores an invalid definition of another", async () => {
  const broken = { ...PAGE, spec: { ...PAGE.spec, versions: [{ name: "v1" }] } };
  await withFiles({ "all.json": JSON.stringify({ kind: "List", items: [broken, SITE] }) }, async (folder) => {
    const io = new RecordedIo(folder);
    assert.equal(await cli(["crd", "import", "all.json", "--kind", "Site"], io), 0, io.stderr);
    assert.equal(io.stdout, MODULE);
  });
});
