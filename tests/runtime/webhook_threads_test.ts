/** Webhooks in worker threads, run from source. */
import { freePort } from "../fixtures/build_operator.ts";
import { checkThreads, program, startDependencies } from "../fixtures/operators/threaded_reviews.ts";

const ROOT = new URL("../../", import.meta.url).href;

Deno.test("reviews run in the configured number of threads, and a failing or hanging one does not affect others", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using around = await startDependencies(folder);
    const port = freePort();
    const text = program(port, folder).replace("@op/sdk", `${ROOT}mod.ts`).replace("repository/", ROOT);
    await Deno.writeTextFile(`${folder}/main.ts`, text);
    const config = new URL("deno.json", ROOT).pathname;
    const run = [Deno.execPath(), "run", "--no-check", "--quiet", "-A", "-c", config, `${folder}/main.ts`];
    await checkThreads([...run, ...around.args], port, around.caCert);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
