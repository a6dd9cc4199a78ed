/** What the compilers say of the documents of mistakes in `tests/types/wrong`; `deno run -A tests/types/_snapshots.ts` writes it into them. */
import { FLOOR, toolchain } from "../../tools/toolchain.ts";
import { errorsOf } from "./_compiler.ts";
import { type MistakesDocument, parseDocument, printDocument } from "./_document.ts";

const FOLDER = new URL("wrong/", import.meta.url);

/** The documents, by their names. */
export function documents(): Map<string, MistakesDocument> {
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  return new Map(names.map((name) => [name, parseDocument(Deno.readTextFileSync(new URL(name, FOLDER)))]));
}

/** The compilers that are asked: the program of each, and the version by which a document calls it. */
export async function compilers(): Promise<{ readonly version: string; readonly deno: string }[]> {
  return [{ version: Deno.version.deno, deno: Deno.execPath() }, { version: FLOOR, deno: (await toolchain()).deno }];
}

async function write(): Promise<void> {
  const all = documents();
  const [newest, floor] = await Promise.all((await compilers()).map(({ deno }) => errorsOf(deno, all)));
  for (const [name, document] of all) {
    const mistakes = document.mistakes.map((mistake, i) => {
      const [now, before] = [newest, floor].map((errors) => errors!.get(name)![i]!.join("\n")) as [string, string];
      return { ...mistake, said: new Map(now === before ? [["", now]] : [["", now], [FLOOR, before]]) };
    });
    await Deno.writeTextFile(new URL(name, FOLDER), printDocument({ ...document, mistakes }));
  }
}

if (import.meta.main) await write();
