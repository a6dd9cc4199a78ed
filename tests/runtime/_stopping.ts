/**
 * An operator's program for tests of shutdown, whose reconcile lasts until an annotation ends it.
 */
import { controller, operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Note } from "./_notes.ts";

const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile({ metadata: { name } }, { apply, log }) {
    log.info("Run began");
    const stopping = Promise.withResolvers<void>();
    for (const signal of ["SIGTERM", "SIGINT"] as const) Deno.addSignalListener(signal, stopping.resolve);
    await stopping.promise;
    await apply(ConfigMap, { metadata: { name } });
  },
});

const op = operator({ name: "note-operator", parts: { notes }, health: false, leaderElection: true });
export default op;
if (import.meta.main) await op.main();
