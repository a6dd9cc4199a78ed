import assert from "node:assert/strict";
import { join } from "node:path";
import { type Chunk, chunksOf, stableNames } from "./chunks.ts";

/** Writes files as the bundler does, and returns their chunks. */
async function chunks(files: Record<string, string>): Promise<readonly Chunk[]> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, code] of Object.entries(files)) {
      await Deno.writeTextFile(join(folder, name), code);
      await Deno.writeTextFile(join(folder, `${name}.map`), `map of ${name}`);
    }
    return await chunksOf(folder, "main.js", "operator.js");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const CODE = {
  "main.js": 'import{a}from"./chunk-AAAAAAAA.js";let x=await import("./x509-BBBBBBBB.js"),y="./x509-BBBBBBBB.js";',
  "chunk-AAAAAAAA.js": "export{a};",
  "x509-BBBBBBBB.js": 'import"./chunk-AAAAAAAA.js";import("./main.js");export{b};',
};

Deno.test("chunksOf renames the entry file and its imports", async () => {
  const [first, ...others] = await chunks(CODE);
  const [chunk, x509] = others.map(({ name }) => name);
  assert.equal(first?.name, "operator.js");
  assert.match(chunk!, /^chunk-[0-9a-f]{8}\.js$/);
  assert.match(x509!, /^x509-[0-9a-f]{8}\.js$/);
  assert.equal(first.code, `import{a}from"./${chunk}";let x=await import("./${x509}"),y="./x509-BBBBBBBB.js";`);
  assert.equal(others[1]?.code, `import"./${chunk}";import("./operator.js");export{b};`);
  assert.equal(others[1]?.map, "map of x509-BBBBBBBB.js");
});

Deno.test("chunksOf returns names and code that do not depend on the hashes of the bundler", async () => {
  const entries = Object.entries(CODE).map((entry) => entry.map((text) => text.replaceAll("AAAAAAAA", "YYYYYYYY")));
  const hashed = Object.fromEntries(entries);
  assert.deepEqual(
    (await chunks(hashed)).map(({ name, code }) => [name, code]),
    (await chunks(CODE)).map(({ name, code }) => [name, code]),
  );
});

Deno.test("stableNames gives files with the same content different names", () => {
  const names = stableNames(new Map([["a-AAAAAAAA.js", "1"], ["a-BBBBBBBB.js", "1"]]), new Map());
  assert.equal(new Set(names.values()).size, 2);
});
