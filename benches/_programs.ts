/** The programs that are measured, compiled alike: the operator as `op build` does, the floor with the same compiler and flags. */
import { fileURLToPath } from "node:url";
import { buildOperator, type Built, freePort } from "../tests/compiled/_build.ts";
import { toolchain } from "../tools/toolchain.ts";

/** The operator, its health served as usual. */
export function buildItemOperator(): Promise<Built> {
  const health = `{ hostname: "127.0.0.1", port: ${freePort()} }`;
  return buildOperator(`
    import { operator } from "@op/sdk";
    import { items } from "repository/benches/workload/item.ts";
    const op = operator({ name: "item-operator", parts: { items }, health: ${health} });
    export default op;
    if (import.meta.main) await op.main();
  `);
}

/** The bare loop. */
export async function buildFloor(): Promise<Built> {
  const { deno, denort } = await toolchain();
  const folder = await Deno.makeTempDir({ prefix: "floor-" });
  // In a folder where there is nothing else: Deno embeds what it finds beside the file.
  await Deno.copyFile(fileURLToPath(new URL("workload/floor.ts", import.meta.url)), `${folder}/floor.ts`);
  const { success, stderr } = await new Deno.Command(deno, {
    args: [
      ...["compile", "--quiet", "--no-config", "--no-lock", "--no-check", "--no-prompt", "--no-code-cache"],
      "--allow-net=kubernetes.default.svc",
      "--allow-read=/var/run/secrets/kubernetes.io/serviceaccount",
      "--allow-env=KUBERNETES_SERVICE_PORT",
      "--output=floor",
      "floor.ts",
    ],
    cwd: folder,
    env: { DENORT_BIN: denort },
  }).output();
  if (!success) throw new Error(`Cannot compile the floor: ${new TextDecoder().decode(stderr)}`);
  return { path: `${folder}/floor`, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}
