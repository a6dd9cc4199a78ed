/** An operator of which several processes run, with the times of the election as they are where nobody says otherwise. */
import { controller, operator, resource, s } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";

export const Note = resource({
  group: "elected.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string() }),
});

const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply }) {
    await apply(ConfigMap, { metadata: { name: note.metadata.name }, data: { text: note.spec.text } });
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
