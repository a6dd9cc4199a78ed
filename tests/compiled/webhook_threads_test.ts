/** Webhook threads of a compiled operator. */
import { checkThreads, program, startDependencies } from "../fixtures/operators/threaded_reviews.ts";
import { buildOperator, freePort } from "../fixtures/build_operator.ts";

Deno.test("a compiled operator runs reviews in threads, and one that throws or never ends does not affect others", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const port = freePort();
    await using built = await buildOperator(program(port, folder));
    await using around = await startDependencies(folder);
    await checkThreads([built.path, ...around.args], port, around.caCert);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
