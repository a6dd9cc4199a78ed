/**
 * `op` as a single executable, which creates a project and inspects it with the Deno on the path.
 */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sbom } from "../../cli/build/sbom.ts";
import config from "../../cli/deno.json" with { type: "json" };
import { opBinary } from "../../tools/op_binary.ts";
import { toolchain } from "../../tools/toolchain.ts";

const SDK = fileURLToPath(new URL("../../", import.meta.url));

Deno.test("op as an executable creates a project, and prints its sandbox permissions and definitions", async () => {
  const { deno, denort } = await toolchain();
  const folder = await Deno.makeTempDir();
  try {
    const op = join(folder, "op");
    await opBinary({ output: op, compiler: deno, env: { DENORT_BIN: denort } });
    const run = async (cwd: string, ...args: string[]) => {
      const env = { PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH") ?? ""}` };
      const { code, stdout, stderr } = await new Deno.Command(op, { args, cwd, env }).output();
      assert.equal(code, 0, `op ${args.join(" ")}:\n${new TextDecoder().decode(stderr)}`);
      return new TextDecoder().decode(stdout);
    };
    assert.equal(await run(folder, "--version"), `op ${config.version}\n`);
    const { components }: Sbom = JSON.parse(await Deno.readTextFile(`${op}.cdx.json`));
    const required = components.filter(({ scope }) => scope === "required").map(({ name }) => name);
    for (const name of ["deno", "commander", "yaml", "client-node"]) assert(required.includes(name), `${required}`);
    assert(!required.includes("fast-check"));
    assert.match(await run(folder, "new", "operator", "shop", "--sdk", SDK), /^Created operator "shop" in shop:/);
    assert.match(
      await run(join(folder, "shop"), "sandbox"),
      /^net kubernetes\.default\.svc:443 +connects to the API server$/m,
    );
    assert.match(await run(join(folder, "shop"), "crd", "print"), /^ +plural: websites$/m);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
