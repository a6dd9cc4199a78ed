import assert from "node:assert/strict";
import { OutsideError, readText } from "./machine.ts";

async function withFolder(test: (folder: string, outside: string) => Promise<void>): Promise<void> {
  const base = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${base}/mounted/..2026/sub`, { recursive: true });
    await Deno.writeTextFile(`${base}/mounted/..2026/token`, "inside");
    await Deno.writeTextFile(`${base}/mounted/..2026/sub/token`, "below");
    await Deno.symlink("..2026", `${base}/mounted/..data`);
    await Deno.symlink("..data/token", `${base}/mounted/token`);
    await Deno.writeTextFile(`${base}/secret`, "outside");
    await Deno.mkdir(`${base}/mounted-too`);
    await Deno.writeTextFile(`${base}/mounted-too/secret`, "outside");
    await test(`${base}/mounted`, base);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

Deno.test("readText follows the links that a kubelet creates", async () => {
  await withFolder(async (folder) => {
    assert.equal(await readText(`${folder}/token`, [folder]), "inside");
    assert.equal(await readText(`${folder}/..data/sub/token`, [folder]), "below");
  });
});

Deno.test("readText reads from a folder whose own path has a link, such as /var/run", async () => {
  await withFolder(async (folder, base) => {
    await Deno.symlink(folder, `${base}/linked`);
    assert.equal(await readText(`${base}/linked/token`, [`${base}/linked`]), "inside");
  });
});

const LINKS = [
  { name: "an absolute link", link: (base: string) => `${base}/secret` },
  { name: "a relative link", link: () => "../secret" },
  { name: "a link into a folder whose name has the same prefix", link: () => "../mounted-too/secret" },
  { name: "a link to a link", link: () => "..data/out" },
];

for (const { name, link } of LINKS) {
  Deno.test(`readText rejects ${name} out of the folder`, async () => {
    await withFolder(async (folder, base) => {
      await Deno.symlink(`${base}/secret`, `${folder}/..2026/out`);
      await Deno.symlink(link(base), `${folder}/operator.toml`);
      await assert.rejects(readText(`${folder}/operator.toml`, [folder]), OutsideError);
      // Links in other folders are not checked.
      assert.equal(await readText(`${folder}/operator.toml`, []), "outside");
    });
  });
}

Deno.test("readText rejects a file below a linked folder outside", async () => {
  await withFolder(async (folder, base) => {
    await Deno.symlink(base, `${folder}/up`);
    await assert.rejects(readText(`${folder}/up/secret`, [folder]), OutsideError);
  });
});

Deno.test("readText reports a missing file as NotFound", async () => {
  await withFolder(async (folder) => {
    await assert.rejects(readText(`${folder}/none`, [folder]), Deno.errors.NotFound);
  });
});
