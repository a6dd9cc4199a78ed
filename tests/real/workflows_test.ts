/**
 * Checks the GitHub Actions workflows with actionlint: keys, expressions, contexts, permissions,
 * inputs of actions.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);
const ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7";
const WORKFLOWS = [".github/workflows/release.yml", "templates/operator/.github/workflows/release.yml"];

/**
 * Options of tests that need actionlint, a Go program: they are skipped without Go, except in CI.
 */
const NEEDS_GO = { ignore: !await hasGo() && Deno.env.get("CI") !== "true" };

async function hasGo(): Promise<boolean> {
  const command = new Deno.Command("go", { args: ["version"], stdout: "null", stderr: "null" });
  return await command.output().then(({ success }) => success, () => false);
}

/**
 * Returns the findings of actionlint as lines. It does not call other checkers, which may or may
 * not be installed.
 */
async function findings(...files: readonly string[]): Promise<string[]> {
  const args = ["run", ACTIONLINT, "-shellcheck=", "-pyflakes=", "-no-color", "-oneline", ...files];
  const { code, stdout, stderr } = await new Deno.Command("go", { args, stdin: "null" }).output();
  const lines = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
  assert(code === 0 || lines.length > 0, new TextDecoder().decode(stderr));
  return lines;
}

Deno.test("the release workflows are valid for GitHub Actions", NEEDS_GO, async () => {
  assert.deepEqual(await findings(...WORKFLOWS.map((file) => fileURLToPath(new URL(file, ROOT)))), []);
});

Deno.test("actionlint finds an unknown key, property, job or permission in a workflow", NEEDS_GO, async () => {
  const folder = await Deno.makeTempDir();
  try {
    const text = await Deno.readTextFile(new URL(WORKFLOWS[0]!, ROOT));
    const mistakes = [
      ["timeout-minutes:", "timeout-minute:", /unexpected key "timeout-minute"/],
      ["github.token", "github.tokens", /property "tokens" is not defined/],
      ["needs: test", "needs: tests", /needs job "tests" which does not exist/],
      ["contents: write", "contents: all", /"all" is invalid for permission of scope "contents"/],
    ] as const;
    for (const [original, mistake, finding] of mistakes) {
      assert(text.includes(original), original);
      await Deno.writeTextFile(`${folder}/wrong.yml`, text.replace(original, mistake));
      assert.match((await findings(`${folder}/wrong.yml`)).join("\n"), finding);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
