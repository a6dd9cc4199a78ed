import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { realCluster } from "../../src/testing/real_cluster.ts";

const ROOT = new URL("../../", import.meta.url);

/** Each generator with the folder of its files and the subfolders that it writes. */
const GENERATED = [
  { tool: "tools/kinds.ts", folder: "src/kinds", subfolders: [""] },
  { tool: "tools/schemas.ts", folder: "src/kinds/schemas", subfolders: ["", "/short", "/full"] },
];

function generatedFiles(folder: string): Map<string, string> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".gen.ts"));
  return new Map(names.sort().map((name) => [name, Deno.readTextFileSync(`${folder}/${name}`)]));
}

Deno.test("the committed kinds equal the output of the generators for a real API server", async (t) => {
  await using cluster = await realCluster();
  // Adds the administrator's token to each request, like kubectl proxy.
  await using proxy = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => cluster.fetch(request),
  );
  for (const { tool, folder, subfolders } of GENERATED) {
    await t.step(`${tool} writes the committed files of ${folder}`, async () => {
      const written = await Deno.makeTempDir();
      try {
        const { success, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", fileURLToPath(new URL(tool, ROOT)), `http://127.0.0.1:${proxy.addr.port}`, written],
        }).output();
        assert(success, new TextDecoder().decode(stderr));
        for (const subfolder of subfolders) {
          const committed = fileURLToPath(new URL(folder, ROOT)) + subfolder;
          assert.deepEqual(generatedFiles(written + subfolder), generatedFiles(committed));
        }
      } finally {
        await Deno.remove(written, { recursive: true });
      }
    });
  }
});
