/** An operator's program whose metrics a test reads. */
import { controller, operator } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { applyText, Note } from "./_notes.ts";

const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, context) {
    await applyText(note, context);
    context.log.info("Note written");
  },
});
const op = operator({ name: "shop", parts: { notes }, leaderElection: false });
export default op;
if (import.meta.main) await op.main();
