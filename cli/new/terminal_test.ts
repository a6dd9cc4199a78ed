/** `op new` alone on a real terminal: one that `script` of util-linux makes. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/** Runs `op new` in a folder on a terminal, and types an answer at each question. */
async function asked(folder: string, answers: readonly string[]): Promise<string> {
  const process = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", `"${Deno.execPath()}" run -A "${MAIN}" new`, "/dev/null"],
    cwd: folder,
    env: { TERM: "dumb" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keys = process.stdin.getWriter();
  const left = [...answers];
  let said = "";
  let answered = 0;
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    // The question, with the answer that stands if nothing is typed.
    const questions = said.match(/: \[[\w.-]+\] /g)?.length ?? 0;
    // An editor of lines may show a question more than once.
    if (questions === answered || left.length === 0 || /: \[[\w.-]+\] $/.exec(plain(said)) === null) continue;
    answered = questions;
    await keys.write(new TextEncoder().encode(left.shift()));
  }
  await keys.close().catch(() => {});
  await process.status;
  return plain(said);
}

/** Without what moves the cursor. */
function plain(text: string): string {
  // deno-lint-ignore no-control-regex -- that is what is looked for
  return text.replace(/\x1b\[[?\d;]*[A-Za-z]/g, "");
}

Deno.test({
  name: "op new takes answers as they are typed on a terminal, and its own where none is",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const said = await asked(folder, ["shop\r", "shop.example.com\r", "Cache\r", "\r"]);
      assert.match(said, /Created operator "shop" in shop:/);
      assert.match(await Deno.readTextFile(`${folder}/shop/cache/v1.ts`), /group: "shop\.example\.com"/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "op new makes nothing where Ctrl-C is typed instead of an answer",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const said = await asked(folder, ["shop\r", "\x03"]);
      assert.doesNotMatch(said, /Made operator/);
      assert.deepEqual([...Deno.readDirSync(folder)], []);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
