/** `op new` without arguments, on a terminal that `script` of util-linux creates. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/**
 * Runs `op new` in a folder on a terminal, types an answer to each question and returns the output.
 */
async function answerQuestions(folder: string, answers: readonly string[]): Promise<string> {
  const process = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", `"${Deno.execPath()}" run -A "${MAIN}" new`, "/dev/null"],
    cwd: folder,
    env: { TERM: "dumb" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keys = process.stdin.getWriter();
  const remaining = [...answers];
  let output = "";
  let answered = 0;
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    output += text;
    // A question ends with its default answer in brackets.
    const questions = output.match(/: \[[\w.-]+\] /g)?.length ?? 0;
    // A line editor may print a question more than once.
    if (questions === answered || remaining.length === 0 || /: \[[\w.-]+\] $/.exec(plain(output)) === null) continue;
    answered = questions;
    await keys.write(new TextEncoder().encode(remaining.shift()));
  }
  await keys.close().catch(() => {});
  await process.status;
  return plain(output);
}

/** Returns the text without escape sequences, such as those that move the cursor. */
function plain(text: string): string {
  // deno-lint-ignore no-control-regex -- escape sequences begin with one
  return text.replace(/\x1b\[[?\d;]*[A-Za-z]/g, "");
}

Deno.test({
  name: "op new uses the answers that are typed on a terminal, and the default if Enter is pressed",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const output = await answerQuestions(folder, ["shop\r", "shop.example.com\r", "Cache\r", "\r"]);
      assert.match(output, /Created operator "shop" in shop:/);
      assert.match(await Deno.readTextFile(`${folder}/shop/cache/v1.ts`), /group: "shop\.example\.com"/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "op new creates no file if Ctrl-C is typed instead of an answer",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const output = await answerQuestions(folder, ["shop\r", "\x03"]);
      assert.doesNotMatch(output, /Created operator/);
      assert.deepEqual([...Deno.readDirSync(folder)], []);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
