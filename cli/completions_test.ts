import assert from "node:assert/strict";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";

async function script(shell: string): Promise<string> {
  const io = new RecordedIo();
  assert.equal(await cli(["completions", shell], io), 0, io.stderr);
  return io.stdout;
}

/** Returns the completions of bash for the last of some words. */
async function completionsOf(...words: string[]): Promise<string[]> {
  const list = words.map((word) => `'${word}'`).join(" ");
  const call = `COMP_WORDS=(op ${list}); COMP_CWORD=${words.length}; cd /; _op; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["--norc", "-c", `${await script("bash")}\n${call}`],
    clearEnv: true,
  }).output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout).trim().split("\n");
}

const CASES = [
  { words: ["unin"], expected: ["uninstall"] },
  { words: ["crd", "di"], expected: ["diff"] },
  { words: ["new", "operator", "shop", "--ki"], expected: ["--kind"] },
  { words: ["plan", "-o", ""], expected: ["text", "json", "yaml"] },
  { words: ["-l", "debug", "doctor", "--stuck"], expected: ["--stuck-after"] },
  { words: ["start", "--log-level", "w"], expected: ["warn"] },
];

Deno.test("op completions bash completes commands, options and values", async (t) => {
  for (const { words, expected } of CASES) {
    await t.step(
      `bash completes "op ${words.join(" ")}"`,
      async () => assert.deepEqual(await completionsOf(...words), expected),
    );
  }
});

Deno.test("op completions supports zsh and fish, and suggests a shell for a mistyped one", async () => {
  assert.match(await script("zsh"), /^#compdef op\n/);
  const fish = await script("fish");
  assert.match(fish, /^complete -c op -n '__fish_use_subcommand' -f -a doctor -d '/m);
  assert.match(fish, /^complete -c op -n '__op_at plan' -l output -x -a 'text json yaml' -d '/m);
  const io = new RecordedIo();
  assert.equal(await cli(["completions", "fisch"], io), 2);
  assert.match(io.stderr, /Did you mean "fish"\? Supported shells: bash, zsh, fish\.\n$/);
});

Deno.test("op version prints the versions as text, JSON or YAML", async () => {
  for (const [format, pattern] of [["text", /^op \d/], ["json", /^\{\n {2}"op": "\d/], ["yaml", /^op: \d/]] as const) {
    const io = new RecordedIo();
    assert.equal(await cli(["version", "-o", format], io), 0);
    assert.match(io.stdout, pattern);
  }
});
