import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { upstream } from "./upstream.ts";
import { ISSUER, type Module, type Origin, ORIGINS } from "./upstream/origins.ts";
import { pack } from "./upstream/pack.ts";
import { packedFile, unpack, writePacked } from "./upstream/packed.ts";
import { ORIGINS_PAGE, originsPage } from "./upstream/page.ts";

const MODULE: Module = { path: "example.com/ann/sites", version: "v1.2.3", sum: "h1:sum-of-sites" };
const ORIGIN: Origin = {
  kind: "Site",
  definition: { module: MODULE, path: "crds.yaml" },
  samples: [{ module: MODULE, path: "docs" }],
};

const DEFINITION = `kind: Namespace
---
kind: CustomResourceDefinition
spec: { group: demo.example.com, names: { kind: Site } }
`;

const DOCUMENT = `# Sites

\`\`\`yaml
apiVersion: demo.example.com/v1
kind: Site
metadata: { name: a }
spec: { host: a.example }
---
apiVersion: demo.example.com/v1
kind: Site
metadata: { name: the-same-again }
spec: { host: a.example }
---
apiVersion: other.example.com/v1
kind: Site
\`\`\`

\`\`\`yaml
{{ no YAML
\`\`\`

\`\`\`json
{ "apiVersion": "demo.example.com/v1", "kind": "Site" }
\`\`\`
`;

const FILES = {
  "LICENSE": "                                 Apache License\n                           Version 2.0, January 2004\n",
  "crds.yaml": DEFINITION,
  "docs/guide.md": DOCUMENT,
  "docs/more/site.yaml": "apiVersion: demo.example.com/v1\nkind: Site\nspec: { host: b.example }\n",
  "docs/broken.yaml": "apiVersion: *nothing\n",
};

/** Calls a function with a temporary folder that contains some files. */
async function withFiles(files: Readonly<Record<string, string>>, use: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(folder, name)), { recursive: true });
      await Deno.writeTextFile(join(folder, name), text);
    }
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("pack reads the definition and the objects from YAML and Markdown, without duplicates", async () => {
  await withFiles(FILES, async (folder) => {
    const packed = await pack(ORIGIN, new Map([[MODULE, folder]]));
    assert.deepEqual([packed.kind, packed.origin], ["Site", ORIGIN]);
    assert.deepEqual(packed.definition.spec, { group: "demo.example.com", names: { kind: "Site" } });
    assert.deepEqual(packed.samples.map(({ from, object }) => [from, object.spec]), [
      ["example.com/ann/sites/docs/guide.md", { host: "a.example" }],
      ["example.com/ann/sites/docs/more/site.yaml", { host: "b.example" }],
    ]);
  });
});

Deno.test("pack rejects modules with another license and files that do not define the kind", async () => {
  await withFiles({ ...FILES, LICENSE: "Mine." }, async (folder) => {
    await assert.rejects(
      pack(ORIGIN, new Map([[MODULE, folder]])),
      /of "example\.com\/ann\/sites": its license is not Apache-2\.0$/,
    );
  });
  await withFiles(FILES, async (folder) => {
    await assert.rejects(
      pack({ ...ORIGIN, kind: "Page" }, new Map([[MODULE, folder]])),
      /^Error: Cannot pack "Page": .* does not define it$/,
    );
    await assert.rejects(pack(ORIGIN, new Map()), /the module was not fetched$/);
  });
});

Deno.test("unpack returns the written kind, or undefined if there is none or its version differs", async () => {
  await withFiles({}, async (folder) => {
    const url = new URL(`${pathToFileURL(folder).href}/packed/`);
    const packed = { kind: "Site", origin: ORIGIN, definition: { a: [1, "ü"] }, samples: [] };
    assert.equal(await unpack(ORIGIN, url), undefined);
    const bytes = await writePacked(packed, url);
    assert.equal((await Deno.stat(packedFile("Site", url))).size, bytes);
    assert.deepEqual(await unpack(ORIGIN, url), packed);
    const newer = { ...MODULE, version: "v1.2.4" };
    assert.equal(await unpack({ ...ORIGIN, definition: { module: newer, path: "crds.yaml" } }, url), undefined);
    assert.deepEqual([...Deno.readDirSync(url)].map(({ name }) => name), ["site.json.gz"]);
  });
});

/**
 * Writes a fake Go command that prints the given answers and appends its arguments to the file
 * `asked`.
 */
async function fakeGo(folder: string, ...answers: readonly unknown[]): Promise<string> {
  const file = join(folder, "go");
  const text = answers.map((answer) => JSON.stringify(answer, null, "\t")).join("\n");
  await Deno.writeTextFile(file, `#!/bin/sh\necho "$*" >> "${folder}/asked"\ncat <<'END'\n${text}\nEND\n`, {
    mode: 0o755,
  });
  return file;
}

Deno.test("upstream fetches with Go once and reads the packed kinds afterwards", async () => {
  await withFiles(FILES, async (folder) => {
    const go = await fakeGo(folder, { Path: MODULE.path, Version: MODULE.version, Dir: folder, Sum: MODULE.sum });
    const packed = new URL(`${pathToFileURL(folder).href}/packed/`);
    const lines: string[] = [];
    const ask = () => upstream({ origins: [ORIGIN], folder: packed, go, print: (line) => lines.push(line) });
    const first = await ask();
    assert.deepEqual([first.missing, first.packed.map(({ samples }) => samples.length)], [[], [2]]);
    assert.deepEqual(await ask(), { ...first, packed: JSON.parse(JSON.stringify(first.packed)) });
    assert.equal(await Deno.readTextFile(join(folder, "asked")), `mod download -json ${MODULE.path}@v1.2.3\n`);
    assert.match(lines.join("\n"), /^Packed Site: 2 objects, \d+ bytes$/);
  });
});

Deno.test("upstream reports kinds that cannot be fetched and rejects a module with a wrong checksum", async () => {
  await withFiles(FILES, async (folder) => {
    const packed = new URL(`${pathToFileURL(folder).href}/packed/`);
    const ask = (go: string) => upstream({ origins: [ORIGIN], folder: packed, go, print: () => {} });
    assert.deepEqual(await ask(join(folder, "nothing")), {
      packed: [],
      missing: ["Site"],
      reason: `Cannot fetch modules: "${join(folder, "nothing")}" is not installed. Install Go 1.26`,
    });
    const { reason } = await ask(await fakeGo(folder, { Path: MODULE.path, Error: "no such version" }));
    assert.equal(reason, 'Cannot fetch "example.com/ann/sites@v1.2.3": no such version');
    await assert.rejects(
      ask(await fakeGo(folder, { Path: MODULE.path, Dir: folder, Sum: "h1:other" })),
      /its content has the sum "h1:other", expected "h1:sum-of-sites"$/,
    );
  });
});

Deno.test("tests/upstream/ORIGINS.md is current", async () => {
  const page = await Deno.readTextFile(ORIGINS_PAGE);
  const counts = new Map(
    [...page.matchAll(/^(\w+), (\d+) objects$/gm)].map(([, kind, count]) => [kind!, Number(count)]),
  );
  assert.equal(page, originsPage([...ORIGINS, ISSUER], counts));
  for (const { kind } of ORIGINS) assert(counts.get(kind)! > 10, `few objects of ${kind}`);
});
