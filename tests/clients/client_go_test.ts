/**
 * Runs client-go and controller-runtime against the in-process and the real API server. The output
 * of the program in `go/` must be the same, section by section.
 */
import assert from "node:assert/strict";
import { goProgram } from "./_go_program.ts";
import { bothServers } from "./_servers.ts";

const PARTS = [
  "informer",
  "dynamic",
  "metadata",
  "apply",
  "formats",
  "conflicts",
  "refusals",
  "watches",
  "pages",
  "discovery",
  "subresources",
  "deletion",
  "events",
  "election",
  "manager",
];

Deno.test("client-go gets the same results from the in-process server as from the real one", async (t) => {
  const program = await goProgram();
  await using servers = await bothServers();
  const { real, ours } = servers.kubeconfigs;
  const [expected, actual] = await Promise.all([real, ours].map((kubeconfig) => run(program, kubeconfig)));
  assert(expected && actual);

  assert.deepEqual(expected.map(([name]) => name), PARTS);
  for (const [name, lines] of expected) {
    await t.step(`client-go: ${name}`, () => {
      const [, found = []] = actual.find(([each]) => each === name) ?? [];
      assert(lines.length > 1, `nothing was printed but ${lines}`);
      assert.deepEqual(found, lines);
    });
  }
});

type Part = readonly [name: string, lines: readonly string[]];

/**
 * Runs the program against a server, and returns its lines by section. The error output is a
 * section, too.
 */
async function run(program: string, kubeconfig: string): Promise<readonly Part[]> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [kubeconfig],
    clearEnv: true,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const parts = decoder.decode(stdout).split(/^== /m).filter((text) => text !== "").map((text): Part => {
    const [name = "", ...lines] = text.trimEnd().split("\n");
    return [name, lines];
  });
  return code === 0 ? parts : [...parts, ["it failed", decoder.decode(stderr).split("\n")]];
}
