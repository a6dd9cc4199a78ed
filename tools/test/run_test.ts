import assert from "node:assert/strict";
import { join } from "node:path";
import { runTests } from "./run.ts";

/** A test that writes a file when it starts, and never ends. */
const HUNG = `
Deno.test("ends", () => {});
Deno.test("never ends", async () => {
  await Deno.writeTextFile("started", "");
  await new Promise(() => setInterval(() => {}, 1000));
});
`;

Deno.test("runTests stops tests that exceed the time limit, and reports their names and files", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(folder, "hung_test.ts"), HUNG);
    using watcher = Deno.watchFs(folder);
    const started = (async () => {
      for await (const { paths } of watcher) if (paths.some((path) => path.endsWith("started"))) return;
    })();
    const { passed, failed, failures } = await runTests("slow", ["--no-config", "--no-lock", "hung_test.ts"], {
      cwd: folder,
      timeLimit: started,
    });
    assert.deepEqual([passed, failed], [1, 2]);
    assert.match(failures[0]!, /^\.\/hung_test\.ts: never ends$/m);
    assert.equal(failures[1], "slow: the run was stopped after 60 minutes");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
