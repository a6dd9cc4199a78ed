/**
 * The files that an executable reads at start: the bundle's entry file and its imports. The rest is
 * loaded on demand.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { bundle } from "../../cli/build/bundle.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);

// The example without webhooks has 417. V8 reads about 20 KB in a millisecond, so the limit costs
// at most 2 ms more.
const MOST_KILOBYTES = 450;

/** Modules that no start needs: the rule compiler, schema validation, certificates, YAML. */
const LEFT = [
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
      const files = await imported(path, folder);
      const sources = files.flatMap((file) => maps.get(file)!.sources);
      for (const left of LEFT) {
        assert(!sources.some((each) => left.test(each)), `${left} is in ${files}`);
        assert([...maps.values()].some((map) => map.sources.some((each) => left.test(each))), `${left} is nowhere`);
      }
      const sizes = await Promise.all(files.map(async (file) => (await Deno.stat(`${folder}/${file}`)).size));
      const size = sizes.reduce((sum, each) => sum + each, 0) / 1000;
      assert(size <= MOST_KILOBYTES, `${size} KB`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Returns a file and its static imports, without dynamic ones. */
async function imported(path: string, folder: string): Promise<string[]> {
  const found = [path.slice(folder.length + 1)];
  for (const file of found) {
    const code = await Deno.readTextFile(`${folder}/${file}`);
    for (const [, name] of code.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g)) {
      if (!found.includes(name!)) found.push(name!);
    }
  }
  return found;
}
