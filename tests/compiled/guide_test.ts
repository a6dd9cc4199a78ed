/** The commands of the guide to the command line, run as they stand there, from an empty folder on; the last as a pod would. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findKind } from "../../src/kube/discovery.ts";
import { realCluster } from "../../src/testing/real_cluster.ts";
import { toolchain } from "../../tools/toolchain.ts";
import { adminClient } from "../_watched.ts";
import { tokenOf } from "../real/_service_account.ts";
import { freePort } from "./_build.ts";
import { startAsPod } from "./_operator_process.ts";
import { eventually } from "../eventually.ts";

const ROOT = new URL("../../", import.meta.url);
const GUIDE = new URL("docs/guides/command_line.md", ROOT);

/** The first list of commands. */
async function commands(): Promise<string[]> {
  const [, block] = /^```sh\n([\s\S]*?)^```$/m.exec(await Deno.readTextFile(GUIDE)) ?? assert.fail("there is none");
  return block!.trimEnd().split("\n");
}

/** A folder with the programs that the guide names: `op` as it is here, which makes projects that use the SDK as it is here. */
async function programs(folder: string): Promise<string> {
  const path = join(folder, "bin");
  await Deno.mkdir(path);
  const main = fileURLToPath(new URL("cli/main.ts", ROOT));
  const op = `case "$1 $2" in "new operator") set -- "$@" --sdk "${
    fileURLToPath(ROOT)
  }" ;; esac\nexec "${Deno.execPath()}" run -A "${main}" "$@"`;
  for (const [name, script] of [["op", op], ["deno", `exec "${Deno.execPath()}" "$@"`]] as const) {
    await Deno.writeTextFile(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return path;
}

Deno.test("the guide leads from an empty folder to a reconciling executable in under ten commands", async (t) => {
  const lines = await commands();
  assert(lines.length < 10, `${lines.length} commands`);
  for (const line of lines) assert.match(line, /^[\w./-]+( [\w./-]+)*$/, "one program a line");
  const last = lines.pop()!;
  const { deno, denort } = await toolchain();
  // Other tests on this machine may have the usual port.
  const port = freePort();
  const folder = await Deno.makeTempDir();
  await using cluster = await realCluster();
  const client = adminClient(cluster);
  try {
    const bin = await programs(folder);
    await Deno.writeTextFile(join(folder, "kubeconfig"), cluster.admin.kubeconfig);
    const env = {
      PATH: `${bin}:${Deno.env.get("PATH")}`,
      KUBECONFIG: join(folder, "kubeconfig"),
      DENO_COMPILER: deno,
      DENORT_BIN: denort,
      NO_COLOR: "1",
    };
    let cwd = join(folder, "empty");
    await Deno.mkdir(cwd);
    for (const line of lines) {
      await t.step(line, async () => {
        if (line.startsWith("cd ")) {
          cwd = join(cwd, line.slice(3));
          const file = join(cwd, "operator.toml");
          const text = await Deno.readTextFile(file);
          const changed = text.replace("[operator]\n", `[operator]\nhealth = { port = ${port} }\n`);
          assert.notEqual(changed, text);
          return await Deno.writeTextFile(file, changed);
        }
        const { code, stdout, stderr } = await new Deno.Command("sh", { args: ["-c", line], cwd, env }).output();
        assert.equal(code, 0, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
      });
    }
    await t.step(last, async () => {
      const [program = "", ...args] = last.split(" ");
      const token = await tokenOf(cluster, "shop-system", "shop");
      await using operator = await startAsPod(join(cwd, program), {
        cluster,
        token,
        args,
        // What the ConfigMap and the pod's namespace say in a cluster.
        env: { OP_HEALTH_PORT: String(port), OP_LEADER_ELECTION_NAMESPACE: "shop-system" },
      });
      await operator.logged(({ msg, controller }) => msg === "Controller started" && controller === "backups");
      const Backup = await findKind(client, "backups.shop.example.com");
      await eventually(async () => {
        const [sample] = await client.list(Backup);
        const length = (sample as { status?: { length?: number } } | undefined)?.status?.length;
        assert(length !== undefined, `the sample has no status: ${JSON.stringify(sample)}`);
      });
      assert.equal(await operator.stop("SIGTERM"), 0);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
