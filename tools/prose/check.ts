/**
 * Checks the prose of Markdown files, and the subjects of commits. Comments and messages are
 * checked by `deno lint`.
 */
import { subjectViolations, violations } from "./rules.ts";
import { isCovered } from "./scope.ts";

const ROOT = new URL("../../", import.meta.url);

/** The last commit before subjects were checked. */
const SUBJECTS_SINCE = "0f6950738e9104f07cd90a25a7aceadf07611a4e";

/** The page that lists the phrases that we do not write. */
const GUIDE = "docs/contributing/writing.md";

/**
 * Returns the violations in the Markdown files that the prose check covers.
 *
 * @returns One line for each violation, with file and line.
 */
export async function markdownViolations(): Promise<string[]> {
  const files = (await git("ls-files", "*.md")).filter((file) => isCovered(file) && file !== GUIDE);
  const lists = await Promise.all(files.map(async (file) => {
    const text = await Deno.readTextFile(new URL(file, ROOT));
    return paragraphs(text).flatMap(({ line, prose }) =>
      violations(prose).map((violation) => `${file}:${line}: ${violation}`)
    );
  }));
  return lists.flat();
}

/**
 * Returns the paragraphs of a Markdown text, without code.
 *
 * @param markdown The text.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(paragraphs("A `code`\nB\n\n- C\n"), [
 *   { line: 1, prose: "A \nB" },
 *   { line: 4, prose: "- C" },
 * ]);
 * ```
 */
export function paragraphs(markdown: string): { readonly line: number; readonly prose: string }[] {
  const blank = (code: string) => code.replace(/[^\n]/g, "");
  const prose = markdown.replace(/^(`{3,})[^]*?^\1$/gm, blank).replace(/`[^`]*`/g, blank);
  const found: { line: number; prose: string }[] = [];
  let from = 1;
  for (const block of prose.split(/\n(?:[ \t]*\n)/)) {
    const lines = block.split("\n");
    const first = lines.findIndex((line) => line.trim() !== "");
    if (first >= 0) found.push({ line: from + first, prose: lines.slice(first).join("\n").trimEnd() });
    from += lines.length + 1;
  }
  return found;
}

/**
 * Returns the violations in the subjects of commits since the check exists.
 *
 * A clone without that commit has no history to check.
 */
export async function commitViolations(): Promise<string[]> {
  try {
    const subjects = await git("log", "--no-merges", "--format=%s", `${SUBJECTS_SINCE}..HEAD`);
    return subjects.flatMap(subjectViolations);
  } catch (error) {
    if (error instanceof GitError) return [];
    throw error;
  }
}

/** A git command that failed. */
class GitError extends Error {}

async function git(...args: readonly string[]): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: [...args], cwd: ROOT }).output();
  if (!success) throw new GitError(`git ${args[0]} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
}
