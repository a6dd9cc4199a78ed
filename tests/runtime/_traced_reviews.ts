/** An operator's program for tests of traces: webhooks that change, ask, refuse and fail, and a conversion that fails at what it is told to. */
import { access, conversion, deny, operator, resource, s, webhook } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";

const names = { group: "demo.example.com", kind: "Note" } as const;
const NoteV1 = resource({ ...names, version: "v1", spec: s.object({ text: s.string() }) });
const Note = resource({ ...names, version: "v2", spec: s.object({ lines: s.array(s.string()) }), versions: [NoteV1] });

const noteRules = webhook(Note, {
  uses: [access(ConfigMap, "get")],
  mutate(note) {
    note.spec.lines.push("seen");
  },
  async validate(note, { get, log }) {
    const [first] = note.spec.lines;
    log.info("Note looked at");
    if (first === "forbidden") throw deny("nobody may say that");
    if (first === "broken") throw new TypeError("it is broken");
    await get(ConfigMap, "words", { namespace: "default" });
  },
});
const noteV1 = conversion(NoteV1, Note, {
  up({ spec }) {
    if (spec.text === "broken") throw new TypeError("it is broken");
    return { spec: { lines: spec.text.split("\n") } };
  },
  down: ({ spec }) => ({ spec: { text: spec.lines.join("\n") } }),
});

const op = operator({
  name: "note-operator",
  parts: { noteRules, noteV1 },
  health: false,
  leaderElection: false,
  webhooks: { hostname: "127.0.0.1", port: 0 },
});
export default op;
if (import.meta.main) await op.main();
