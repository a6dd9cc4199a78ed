/** The lint plugins of tools/lint, as deno.json configures them. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { TABLE } from "../tools/lint/layers.ts";

const ROOT = new URL("../", import.meta.url);

Deno.test("every folder of src is in the import table of tools/lint/layers.ts", () => {
  const entries = [...Deno.readDirSync(new URL("src/", ROOT))];
  const folders = entries.filter((entry) => entry.isDirectory).map((entry) => entry.name);
  for (const folder of folders) assert(folder in TABLE, `"src/${folder}" is not in the table of tools/lint/layers.ts`);
});

const PLANTED = [
  {
    name: "a forbidden import",
    file: "src/queue/queue.ts",
    source: 'export * from "../kube/client.ts";\n',
    expected: /op\/layers.*Cannot import "kube" from "queue"/,
  },
  {
    name: "a banned phrase in a covered folder",
    file: "tools/prose/planted.ts",
    // deno-lint-ignore prose/plain-english -- what the check must find
    source: "// Whoever holds the Lease issues the certificates.\n",
    expected: /prose\/plain-english.*"Whoever" is not allowed here/,
  },
];

for (const { name, file, source, expected } of PLANTED) {
  Deno.test(`deno lint fails on ${name}, with the settings of deno.json`, async () => {
    const { lint } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
    const folder = await Deno.makeTempDir();
    try {
      for (const part of [...lint.plugins, "tools/prose/rules.ts", "tools/prose/scope.ts"]) {
        await Deno.mkdir(dirname(`${folder}/${part}`), { recursive: true });
        await Deno.copyFile(new URL(part, ROOT), `${folder}/${part}`);
      }
      await Deno.mkdir(dirname(`${folder}/${file}`), { recursive: true });
      await Deno.writeTextFile(`${folder}/${file}`, source);
      await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ lint: { plugins: lint.plugins } }));
      const command = new Deno.Command(Deno.execPath(), { args: ["lint"], cwd: folder, env: { NO_COLOR: "1" } });
      const { code, stderr } = await command.output();
      assert.equal(code, 1);
      assert.match(new TextDecoder().decode(stderr), expected);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
