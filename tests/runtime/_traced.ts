/**
 * An operator's program for tests of traces: one controller creates a ConfigMap and fails once on
 * request, and another is triggered by the ConfigMap.
 */
import { controller, operator, TemporaryError, watch } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { applyText, Note } from "./_notes.ts";

const writers = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, context) {
    if (note.spec.text === "fails once" && context.attempt === 1) {
      throw new TemporaryError("not yet", { retry: "10ms" });
    }
    await applyText(note, context);
    context.status({ text: note.spec.text });
    context.log.info("Note written");
  },
});
const readers = controller(Note, {
  watches: [watch(ConfigMap, { map: ({ metadata: { name } }) => name })],
  reconcile() {},
});

const op = operator({
  name: "note-operator",
  version: "1.2.3",
  parts: { writers, readers },
  health: false,
  leaderElection: false,
});
export default op;
if (import.meta.main) await op.main();
