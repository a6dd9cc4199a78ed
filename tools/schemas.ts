/**
 * Writes the types of Kubernetes as structural schemas: without descriptions into
 * `src/kinds/schemas`, with descriptions into its folders `short` and `full`.
 *
 *     deno run -A tools/schemas.ts SOURCE [FOLDER]
 *
 * SOURCE is the URL of an API server that requires no credentials (`kubectl proxy`), or a folder
 * with its responses (see `kinds/answers.ts`).
 */
import { readAnswers } from "./kinds/answers.ts";
import { writeGenerated } from "./kinds/files.ts";
import { collectKinds } from "./kinds/model.ts";
import { renderDescribed, renderSchemas } from "./schemas/render.ts";
import { structuralDefinitions } from "./schemas/structural.ts";

async function main(source: string | undefined, folder: string): Promise<void> {
  if (source === undefined) {
    throw new Error("Missing argument: the URL of an API server, or a folder with its responses");
  }
  const { discoveries, documents } = await readAnswers(source);
  const model = collectKinds(discoveries, documents);
  const definitions = structuralDefinitions(model);
  await writeGenerated(renderSchemas(model, definitions), folder);
  for (const length of ["short", "full"] as const) {
    await writeGenerated(renderDescribed(definitions, length), `${folder}/${length}`);
  }
  console.log(`${definitions.length} schemas written to ${folder}`);
}

if (import.meta.main) await main(Deno.args[0], Deno.args[1] ?? "src/kinds/schemas");
