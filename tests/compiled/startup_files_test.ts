/**
 * The files that an executable reads at start: the bundle's entry file and its static imports. The
 * other files are loaded on demand.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { bundle } from "../../cli/build/bundle.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);

// The example without webhooks has 493, of which 14 are the stored forms of built-in kinds. V8
// reads about 20 KB in a millisecond.
const MAX_KILOBYTES = 500;

/** Modules that are loaded on demand: the rule compiler, schema validation, certificates, YAML. */
const ON_DEMAND = [
  /src\/cel\/(?:parser|checker|plan)\.ts$/,
  /@bufbuild\/re2/,
  /structural\.ts$/,
  /@peculiar\/x509/,
  /\byaml@/,
];

for (const example of ["01_website", "02_webhooks"]) {
  Deno.test(`the executable of ${example} loads no module for validation, certificates or YAML at start`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const url = new URL(`${example}/main.ts`, EXAMPLES);
      const source = { path: fileURLToPath(url), url, folder: fileURLToPath(new URL(".", url)) };
      const { path, maps } = await bundle(source, folder, "main.ts");
      const files = await withStaticImports(path, folder);
      const sources = files.flatMap((file) => maps.get(file)!.sources);
      for (const module of ON_DEMAND) {
        assert(!sources.some((source) => module.test(source)), `${module} is in ${files}`);
        assert(
          [...maps.values()].some((map) => map.sources.some((source) => module.test(source))),
          `${module} is not in the bundle`,
        );
      }
      const sizes = await Promise.all(files.map(async (file) => (await Deno.stat(`${folder}/${file}`)).size));
      const size = sizes.reduce((sum, each) => sum + each, 0) / 1000;
      assert(size <= MAX_KILOBYTES, `${size} KB`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Returns a file and its static imports, without dynamic ones. */
async function withStaticImports(path: string, folder: string): Promise<string[]> {
  const found = [path.slice(folder.length + 1)];
  for (const file of found) {
    const code = await Deno.readTextFile(`${folder}/${file}`);
    for (const [, name] of code.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) {
      if (!found.includes(name!)) found.push(name!);
    }
  }
  return found;
}
