/**
 * Writes `src/kinds/*.gen.ts`, which have the value and the types of each built-in kind, from the
 * discovery and OpenAPI documents of an API server.
 *
 *     deno run -A tools/kinds.ts SOURCE [FOLDER]
 *
 * SOURCE is the URL of an API server that requires no credentials (`kubectl proxy`), or a folder
 * with its responses (see `kinds/answers.ts`).
 */
import { readAnswers } from "./kinds/answers.ts";
import { writeGenerated } from "./kinds/files.ts";
import { collectKinds } from "./kinds/model.ts";
import { render } from "./kinds/render.ts";

async function main(source: string | undefined, folder: string): Promise<void> {
  if (source === undefined) {
    throw new Error("Missing argument: the URL of an API server, or a folder with its responses");
  }
  const { discoveries, documents } = await readAnswers(source);
  const files = render(collectKinds(discoveries, documents));
  await writeGenerated(files, folder);
  console.log(`${files.size} files written to ${folder}`);
}

if (import.meta.main) await main(Deno.args[0], Deno.args[1] ?? "src/kinds");
