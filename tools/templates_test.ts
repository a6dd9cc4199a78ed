import assert from "node:assert/strict";
import { templatesModule } from "./templates.ts";

Deno.test("cli/templates.gen.ts is current", async () => {
  const current = await Deno.readTextFile(new URL("../cli/templates.gen.ts", import.meta.url));
  assert(current === templatesModule(), 'cli/templates.gen.ts is stale: run "deno run -A tools/templates.ts"');
});

Deno.test("templatesModule escapes the content of files", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/some/inner`, { recursive: true });
    await Deno.writeTextFile(`${folder}/some/inner/a.ts`, '`${x}` \\ "quoted"\n');
    const module = templatesModule(new URL(`file://${folder}/`));
    assert(module.includes(`"inner/a.ts": ${JSON.stringify('`${x}` \\ "quoted"\n')}`));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
