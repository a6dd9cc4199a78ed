import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Origin, ORIGINS, ORIGINS_PAGE, originsPage, pack, packedFile, unpack, writePacked } from "./upstream.ts";

const ORIGIN: Origin = {
  kind: "Site",
  definition: { repository: "ann/sites", file: "crds.yaml" },
  samples: [{ repository: "ann/sites", path: "docs" }],
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

/** Gives a folder with a checkout that has some files. */
async function withCheckout(files: Readonly<Record<string, string>>, use: (checkouts: string) => Promise<void>) {
  const checkouts = await Deno.makeTempDir();
  const cwd = join(checkouts, ORIGIN.definition.repository);
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(dirname(join(cwd, name)), { recursive: true });
      await Deno.writeTextFile(join(cwd, name), text);
    }
    for (const args of [["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "All"]]) {
      const git = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false", ...args];
      const { success, stderr } = await new Deno.Command("git", { args: git, cwd }).output();
      assert(success, new TextDecoder().decode(stderr));
    }
    await use(checkouts);
  } finally {
    await Deno.remove(checkouts, { recursive: true });
  }
}

Deno.test("pack finds the definition, and each object once, in YAML and in Markdown", async () => {
  await withCheckout(FILES, async (checkouts) => {
    const packed = await pack(ORIGIN, checkouts);
    assert.equal(packed.kind, "Site");
    assert.deepEqual(packed.definition.spec, { group: "demo.example.com", names: { kind: "Site" } });
    assert.deepEqual(packed.samples.map(({ from, object }) => [from, object.spec]), [
      ["ann/sites/docs/guide.md", { host: "a.example" }],
      ["ann/sites/docs/more/site.yaml", { host: "b.example" }],
    ]);
    const [{ repository, commit, licence } = assert.fail()] = packed.origins;
    assert.deepEqual([repository, licence], ["ann/sites", "Apache-2.0"]);
    assert.match(commit, /^[0-9a-f]{40}$/);
  });
});

Deno.test("pack refuses another licence, and a definition that is not there", async () => {
  await withCheckout({ ...FILES, LICENSE: "Mine." }, async (checkouts) => {
    await assert.rejects(pack(ORIGIN, checkouts), /of "ann\/sites": its licence is not Apache-2\.0$/);
    await assert.rejects(
      pack({ ...ORIGIN, kind: "Page" }, checkouts),
      /^Error: Cannot pack "Page": .* does not define it$/,
    );
    const nowhere = { ...ORIGIN, definition: { repository: "bob/sites", file: "crds.yaml" } };
    await assert.rejects(pack(nowhere, checkouts), /into the folder of checkouts as "bob\/sites"$/);
  });
});

Deno.test("unpack gives back what was written, and nothing where nothing was", async () => {
  const folder = await Deno.makeTempDir();
  const url = new URL(`${pathToFileURL(folder).href}/`);
  const packed = { kind: "Site", origins: [], definition: { a: [1, "ü"] }, samples: [] };
  try {
    assert.equal(await unpack("Site", url), undefined);
    const bytes = await writePacked(packed, url);
    assert.equal((await Deno.stat(packedFile("Site", url))).size, bytes);
    assert.deepEqual(await unpack("Site", url), packed);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("ORIGINS.md is what tools/upstream.ts writes of the origins", async () => {
  const page = await Deno.readTextFile(ORIGINS_PAGE);
  const known = [...page.matchAll(/^- (\S+) at `([0-9a-f]{40})`, (\S+)$/gm)].map(([, repository, commit, licence]) => ({
    repository: repository!,
    commit: commit!,
    licence: licence!,
  }));
  const kinds = ORIGINS.map(({ kind, definition, samples }) => {
    const [, count] = new RegExp(`^${kind}, (\\d+) objects$`, "m").exec(page) ?? [];
    const repositories = [definition, ...samples].map(({ repository }) => repository);
    return {
      kind,
      origins: known.filter(({ repository }) => repositories.includes(repository)),
      definition: {},
      samples: Array.from({ length: Number(count) }, () => ({ from: "", object: {} })),
    };
  });
  assert.equal(page, originsPage(kinds));
});
