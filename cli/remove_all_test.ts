import assert from "node:assert/strict";
import { removeAll } from "./remove_all.ts";

Deno.test("removeAll removes a folder into which another program still writes", async () => {
  const folder = await Deno.makeTempDir();
  const busy = `${folder}/busy`;
  const write = 'mkdir -p "$0"; echo; for i in $(seq 2000); do mkdir "$0/$i" && : > "$0/$i/file" || exit 0; done';
  const writer = new Deno.Command("sh", { args: ["-c", write, busy], stdout: "piped", stderr: "null" }).spawn();
  try {
    await writer.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    removeAll(busy);
    await writer.status;
    assert.throws(() => Deno.lstatSync(busy), Deno.errors.NotFound);
  } finally {
    await writer.status;
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("removeAll ignores a path that does not exist", () => {
  removeAll(`/${crypto.randomUUID()}`);
});

Deno.test("removeAll throws if it cannot remove a file", { ignore: Deno.build.os !== "linux" }, () => {
  assert.throws(() => removeAll("/proc/version"), Deno.errors.PermissionDenied);
});
