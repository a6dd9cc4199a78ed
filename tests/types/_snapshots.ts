/**
 * Errors of the compilers for the mistakes in `tests/types/wrong`. `deno run -A
 * tests/types/_snapshots.ts` updates them.
 */
import { FLOOR, toolchain } from "../../tools/toolchain.ts";
import { errorsOf } from "./_compiler.ts";
import { type MistakesDocument, parseDocument, printDocument } from "./_document.ts";

const FOLDER = new URL("wrong/", import.meta.url);

/** Returns the documents by name. */
export function documents(): Map<string, MistakesDocument> {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  return new Map(names.map((name) => [name, parseDocument(Deno.readTextFileSync(new URL(name, FOLDER)))]));
}

/** Returns the compilers: the path of each Deno, and its version in documents. */
export async function compilers(): Promise<{ readonly version: string; readonly deno: string }[]> {
  return [{ version: Deno.version.deno, deno: Deno.execPath() }, { version: FLOOR, deno: (await toolchain()).deno }];
}

async function write(): Promise<void> {
  const all = documents();
  const [newest, floor] = await Promise.all((await compilers()).map(({ deno }) => errorsOf(deno, all)));
  for (const [name, document] of all) {
    const mistakes = document.mistakes.map((mistake, i) => {
      const [current, oldest] = [newest, floor].map((errors) => errors!.get(name)![i]!.join("\n")) as [string, string];
      return { ...mistake, errors: new Map(current === oldest ? [["", current]] : [["", current], [FLOOR, oldest]]) };
    });
    await Deno.writeTextFile(new URL(name, FOLDER), printDocument({ ...document, mistakes }));
  }
}

if (import.meta.main) await write();
