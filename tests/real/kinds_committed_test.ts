import assert from "node:assert/strict";
import { realCluster } from "../../src/testing/real_cluster.ts";

const KINDS = new URL("../../src/kinds/", import.meta.url).pathname;

function generatedFiles(folder: string): Map<string, string> {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith(".gen.ts"));
  return new Map(names.sort().map((name) => [name, Deno.readTextFileSync(`${folder}/${name}`)]));
}

Deno.test("src/kinds is what tools/kinds.ts writes from a real API server", async () => {
  await using cluster = await realCluster();
  // As kubectl proxy: the administrator's token is added on the way.
  await using proxy = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => cluster.fetch(request),
  );
  const folder = await Deno.makeTempDir();
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${KINDS}/../../tools/kinds.ts`, `http://127.0.0.1:${proxy.addr.port}`, folder],
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    assert.deepEqual(generatedFiles(folder), generatedFiles(KINDS));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
