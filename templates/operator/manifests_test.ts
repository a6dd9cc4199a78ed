import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

Deno.test('config/ is up to date; "deno task generate" updates it', async () => {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "op", "generate", "manifests", `${folder}main.ts`, "--dir", `${folder}config`, "--check"],
    cwd: folder,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});
