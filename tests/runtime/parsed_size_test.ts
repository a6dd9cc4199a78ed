/**
 * The estimated size of parsed JSON, compared with the memory that V8 uses in a separate process.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

Deno.test("parsedSize never estimates much less than V8 uses, nor much more for objects of a cluster", async (t) => {
  const [main, config] = ["_parsed_sizes.ts", "../../deno.json"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url))
  );
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--no-lock", "--v8-flags=--expose-gc", `--config=${config}`, main!],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  for (const { name, isUsual, length, taken, estimated } of JSON.parse(new TextDecoder().decode(stdout))) {
    await t.step(name, () => {
      const words = `${length} characters took ${taken} bytes, estimated ${estimated}`;
      assert(estimated > 0.85 * taken, words);
      if (isUsual) assert(estimated < 2.5 * Math.max(taken, length), words);
    });
  }
});
