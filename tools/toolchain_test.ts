import assert from "node:assert/strict";
import { join } from "node:path";
import { FLOOR, NoToolchain, toolchain, verify } from "./toolchain.ts";

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("toolchain returns the cached programs without fetching them again", {
  ignore: `${Deno.build.os}-${Deno.build.arch}` !== "linux-x86_64",
}, async () => {
  await inFolder(async (folder) => {
    await Deno.mkdir(join(folder, FLOOR));
    assert.deepEqual(await toolchain({ folder }), {
      deno: join(folder, FLOOR, "deno"),
      denort: join(folder, FLOOR, "denort"),
    });
    assert.deepEqual([...Deno.readDirSync(folder)].map((entry) => entry.name), [FLOOR]);
  });
});

Deno.test("verify accepts a file with the expected checksum and rejects others", async () => {
  await inFolder(async (folder) => {
    const file = join(folder, "denort");
    await Deno.writeTextFile(file, "abc");
    // The SHA-256 of "abc" is the example of FIPS 180-4.
    const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const part = { name: "denort", package: "p", version: "1.0.0", file: "vlt", sha256 } as const;
    await verify(part, file);

    await Deno.writeTextFile(file, "abd");
    await assert.rejects(verify(part, file), (error: Error) => {
      assert(error instanceof NoToolchain);
      assert.match(error.message, /^Cannot use "vlt" of p@1\.0\.0: its SHA-256 is [0-9a-f]{64}, expected ba7816bf/);
      return true;
    });
  });
});
