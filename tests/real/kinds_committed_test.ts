import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { realCluster } from "../../src/testing/real_cluster.ts";

const ROOT = new URL("../../", import.meta.url);

const GENERATED = [
  { tool: "tools/kinds.ts", folder: "src/kinds", within: [""] },
  { tool: "tools/schemas.ts", folder: "src/kinds/schemas", within: ["", "/short", "/full"] },
];

function generatedFiles(folder: string): Map<string, string> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".gen.ts"));
  return new Map(names.sort().map((name) => [name, Deno.readTextFileSync(`${folder}/${name}`)]));
}

Deno.test("the committed kinds are what the generators write from a real API server", async (t) => {
  await using cluster = await realCluster();
  // Like kubectl proxy, it adds the administrator's token to each request.
  await using proxy = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => cluster.fetch(request),
  );
  for (const { tool, folder, within } of GENERATED) {
    await t.step(`${folder} by ${tool}`, async () => {
      const written = await Deno.makeTempDir();
      try {
        const { success, stderr } = await new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", fileURLToPath(new URL(tool, ROOT)), `http://127.0.0.1:${proxy.addr.port}`, written],
        }).output();
        assert(success, new TextDecoder().decode(stderr));
        for (const part of within) {
          const committed = fileURLToPath(new URL(folder, ROOT)) + part;
          assert.deepEqual(generatedFiles(written + part), generatedFiles(committed));
        }
      } finally {
        await Deno.remove(written, { recursive: true });
      }
    });
  }
});
