/** An operator of which several processes run, with the times of the election as they are where nobody says otherwise. */
import { controller, operator, requeue, resource, s } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";

export const Note = resource({
  group: "elected.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
});

const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply, log }) {
    const { metadata: { name }, spec: { text } } = note;
    if (name === "blocking" && Deno.env.get("HOSTNAME") === "first") {
      log.info("Blocks");
      // No timer runs and no signal is told before the write that follows: whatever ends the term is told after it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
    }
    await apply(ConfigMap, { metadata: { name }, data: { text } });
    if (name !== "busy") return;
    // One is always in the middle of a run, with a write to come as soon as the process goes on.
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await apply(ConfigMap, { metadata: { name }, data: { text: `${text} ${i}` } });
    }
    return requeue("0s");
  },
});

const op = operator({
  name: "elected-operator",
  parts: { notes },
  health: false,
  leaderElection: true,
});
export default op;
if (import.meta.main) await op.main();
