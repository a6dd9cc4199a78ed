import assert from "node:assert/strict";
import { join } from "node:path";
import { namedSource, packageIn } from "./source_name.ts";

Deno.test("namedSource names files independently of their folder", async (t) => {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(join(root, "sdk/src"), { recursive: true });
    await Deno.writeTextFile(join(root, "sdk/deno.json"), '{ "name": "@op/sdk", "version": "0.1.0" }');
    const named = namedSource({
      folder: join(root, "build"),
      project: join(root, "shop"),
      npmCache: join(root, "deno/npm"),
    });
    const cases = [
      ["../shop/website/v1.ts", "website/v1.ts"],
      ["../sdk/src/base/clock.ts", "@op/sdk@0.1.0/src/base/clock.ts"],
      ["../unrelated/part.ts", "../unrelated/part.ts"],
      ["../deno/npm/registry.example.org/yaml/2.9.1/dist/index.js", "npm:yaml@2.9.1/dist/index.js"],
      ["../deno/npm/localhost_4873/@a/b/1.0.0-rc.1/x.js", "npm:@a/b@1.0.0-rc.1/x.js"],
      ["../deno/npm/registry.example.org/ajv/8.0.0_1/x.js", "npm:ajv@8.0.0/x.js"],
      ["../shop/node_modules/.deno/yaml@2.9.1/node_modules/yaml/dist/index.js", "npm:yaml@2.9.1/dist/index.js"],
      ["../shop/node_modules/.deno/@a+b@1.0.0/node_modules/@a/b/x.js", "npm:@a/b@1.0.0/x.js"],
      ["../shop/node_modules/.deno/ajv@8.0.0_peer@1.0.0/node_modules/ajv/x.js", "npm:ajv@8.0.0/x.js"],
      ["https://jsr.io/@std/async/1.0.0/delay.ts", "jsr:@std/async@1.0.0/delay.ts"],
      ["https://example.com/x.ts", "https://example.com/x.ts"],
    ] as const;
    for (const [given, expected] of cases) {
      await t.step(`namedSource names ${given}`, async () => assert.equal(await named(given), expected));
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("packageIn returns the package of a source, and undefined for files of the project", () => {
  const cases = [
    ["npm:yaml@2.9.1/dist/index.js", "npm:yaml@2.9.1"],
    ["npm:@a/b@1.0.0/x.js", "npm:@a/b@1.0.0"],
    ["jsr:@std/async@1.0.0/delay.ts", "jsr:@std/async@1.0.0"],
    ["@op/sdk@0.1.0/src/base/clock.ts", "@op/sdk@0.1.0"],
    ["website/v1.ts", undefined],
    ["../unrelated/part.ts", undefined],
    ["https://example.com/x.ts", undefined],
  ] as const;
  for (const [given, expected] of cases) assert.equal(packageIn(given), expected, given);
});
