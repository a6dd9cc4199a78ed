import assert from "node:assert/strict";
import { RecordedIo } from "./_recorded_io.ts";
import { cli } from "./cli.ts";

async function script(shell: string): Promise<string> {
  const io = new RecordedIo();
  assert.equal(await cli(["completions", shell], io), 0, io.stderr);
  return io.stdout;
}

/** What bash would offer behind some words. */
async function offered(...words: string[]): Promise<string[]> {
  const list = words.map((word) => `'${word}'`).join(" ");
  const ask = `COMP_WORDS=(op ${list}); COMP_CWORD=${words.length}; cd /; _op; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { code, stdout } = await new Deno.Command("bash", {
    args: ["--norc", "-c", `${await script("bash")}\n${ask}`],
    clearEnv: true,
  }).output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout).trim().split("\n");
}

const CASES = [
  { words: ["unin"], found: ["uninstall"] },
  { words: ["crd", "di"], found: ["diff"] },
  { words: ["new", "operator", "shop", "--ki"], found: ["--kind"] },
  { words: ["plan", "-o", ""], found: ["text", "json", "yaml"] },
  { words: ["-l", "debug", "doctor", "--stuck"], found: ["--stuck-after"] },
  { words: ["start", "--log-level", "w"], found: ["warn"] },
];

Deno.test("op completions bash completes commands, options and values", async (t) => {
  for (const { words, found } of CASES) {
    await t.step(words.join(" "), async () => assert.deepEqual(await offered(...words), found));
  }
});

Deno.test("op completions supports zsh and fish, and suggests them for a mistyped shell", async () => {
  assert.match(await script("zsh"), /^#compdef op\n/);
  const fish = await script("fish");
  assert.match(fish, /^complete -c op -n '__fish_use_subcommand' -f -a doctor -d '/m);
  assert.match(fish, /^complete -c op -n '__op_at plan' -l output -x -a 'text json yaml' -d '/m);
  const io = new RecordedIo();
  assert.equal(await cli(["completions", "fisch"], io), 2);
  assert.match(io.stderr, /Did you mean "fish"\? Supported shells: bash, zsh, fish\.\n$/);
});

Deno.test("op version prints the versions as text, JSON or YAML", async () => {
  for (const [form, pattern] of [["text", /^op \d/], ["json", /^\{\n {2}"op": "\d/], ["yaml", /^op: \d/]] as const) {
    const io = new RecordedIo();
    assert.equal(await cli(["version", "-o", form], io), 0);
    assert.match(io.stdout, pattern);
  }
});
