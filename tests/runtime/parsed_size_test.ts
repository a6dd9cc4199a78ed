/** parsedSize(), compared with the memory that V8 uses for parsed JSON in a separate process. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

Deno.test("parsedSize estimates at least 85 % of the memory that V8 uses, and for typical objects at most 250 %", async (t) => {
  const [main, config] = ["_parsed_sizes.ts", "../../deno.json"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url))
  );
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", "--v8-flags=--expose-gc", `--config=${config}`, main!],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  for (const { name, isTypical, length, used, estimated } of JSON.parse(new TextDecoder().decode(stdout))) {
    await t.step(name, () => {
      const message = `${length} characters: V8 uses ${used} bytes, parsedSize estimates ${estimated}`;
      assert(estimated > 0.85 * used, message);
      if (isTypical) assert(estimated < 2.5 * Math.max(used, length), message);
    });
  }
});
