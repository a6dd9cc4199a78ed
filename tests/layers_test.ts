import assert from "node:assert/strict";
import { TABLE } from "../tools/lint/layers.ts";

const ROOT = new URL("../", import.meta.url);

Deno.test("every folder of src is a room of the import table", () => {
  const folders = [...Deno.readDirSync(new URL("src/", ROOT))].map((entry) => entry.name);
  for (const folder of folders) assert(folder in TABLE, `"src/${folder}" is not in the table of tools/lint/layers.ts`);
});

Deno.test("deno lint fails on a forbidden import, under the settings of deno.json", async () => {
  const { lint } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/tools/lint`, { recursive: true });
    await Deno.mkdir(`${folder}/src/queue`, { recursive: true });
    await Deno.copyFile(new URL("tools/lint/layers.ts", ROOT), `${folder}/tools/lint/layers.ts`);
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ lint: { plugins: lint.plugins ?? [] } }));
    await Deno.writeTextFile(`${folder}/src/queue/queue.ts`, 'export * from "../kube/client.ts";\n');
    const command = new Deno.Command(Deno.execPath(), { args: ["lint"], cwd: folder, env: { NO_COLOR: "1" } });
    const { code, stderr } = await command.output();
    assert.equal(code, 1);
    assert.match(new TextDecoder().decode(stderr), /op\/layers.*Cannot import "kube" from "queue"/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
