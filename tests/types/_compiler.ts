/** Compiles programs with mistakes, and returns the errors of the compiler. */
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectConfig } from "../../cli/new/project_config.ts";
import type { MistakesDocument } from "./_document.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Writes files into a project like that of a user, and removes them when `use` has ended. */
export async function withProject<T>(
  files: { readonly [name: string]: string },
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.writeTextFile(join(folder, "deno.json"), projectConfig("project", { sdk: ROOT }));
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, name), text);
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Compiles the mistakes of all documents together, each in its own function.
 *
 * @param deno Path of Deno.
 * @param documents The documents, by name.
 * @returns For each document, the errors by mistake, as lines without source and related positions.
 * @throws {Error} If the shared code of a document has an error.
 */
export async function errorsOf(
  deno: string,
  documents: ReadonlyMap<string, MistakesDocument>,
): Promise<Map<string, string[][]>> {
  const programs = [...documents].map(([name, document]) => ({ name, ...programOf(document) }));
  const files = Object.fromEntries(programs.map(({ text }, i) => [`_${i}.ts`, text]));
  const errors = await check(deno, files);
  return new Map(programs.map(({ name, starts }, i) => {
    const found: string[][] = starts.map(() => []);
    for (const { line, message } of errors.filter(({ file }) => file === `_${i}.ts`)) {
      const mistake = starts.findLastIndex((start) => start <= line);
      if (mistake < 0) throw new Error(`Cannot compile the shared code of ${name}: line ${line}: ${message}`);
      found[mistake]!.push(message);
    }
    return [name, found];
  }));
}

/** Returns the program, and the line at which each mistake starts. */
function programOf({ shared, mistakes }: MistakesDocument): { text: string; starts: number[] } {
  let text = shared;
  const starts = mistakes.map(({ code }, i) => {
    const start = text.split("\n").length;
    text += `export async function _${i}() {\n${code}}\n`;
    return start;
  });
  return { text, starts };
}

interface CompilerError {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

async function check(deno: string, files: { readonly [name: string]: string }): Promise<CompilerError[]> {
  return await withProject(files, async (cwd) => {
    const { stderr } = await new Deno.Command(deno, {
      args: ["check", "--quiet", "--no-lock", ...Object.keys(files)],
      cwd,
      // Both trust the authorities of the machine, because npm packages may come from a private
      // registry.
      env: { NO_COLOR: "1", DENO_TLS_CA_STORE: Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system" },
      stdin: "null",
    }).output();
    return errorsIn(new TextDecoder().decode(stderr), cwd);
  });
}

/**
 * Matches an error: a line with its code, more lines of the message, the underlined source, and the
 * position.
 */
const ERROR =
  /^(?:error: )?TS\d+ \[ERROR\]: (?<message>[\s\S]*?)\n[^\n]*\n *(?:~+|\^)\n\s+at file:\/\/(?<file>\S+):(?<line>\d+):\d+$/gm;

function errorsIn(output: string, folder: string): CompilerError[] {
  const errors = [...output.matchAll(ERROR)].map(({ groups }) => {
    const { message, file, line } = groups as { message: string; file: string; line: string };
    if (dirname(file) !== folder) throw new Error(`Cannot compile the SDK: ${file}:${line}: ${message}`);
    return { file: basename(file), line: Number(line), message: withSortedUnions(message.replaceAll(ROOT, "")) };
  });
  const counted = Number(/^Found (\d+) errors?\.$/m.exec(output)?.[1] ?? Math.min(1, output.length));
  if (counted !== errors.length) throw new Error(`Cannot parse the output of the compiler: ${output}`);
  return errors;
}

/**
 * Sorts the members of a union. The compiler lists them in the order in which it found them, which
 * an additional import may change.
 */
function withSortedUnions(message: string): string {
  return message
    .replaceAll(/(?:"[^"]*" \| )+\.\.\. (\d+) more \.\.\. \| (?:"[^"]*"|undefined)/g, (union, more) => {
      const names = union.split(" | ").length - 1 + Number(more);
      return `one of ${names}`;
    })
    .replaceAll(/"[^"]*"(?: \| "[^"]*")+/g, (union) => union.split(" | ").sort().join(" | "));
}
