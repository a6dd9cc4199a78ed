/**
 * An operator's program for tests of traces: webhooks that mutate, read, deny and fail, and a
 * conversion that fails on request.
 */
import { access, deny, operator, webhook } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import { Note, notes } from "./_reviews.ts";

const noteRules = webhook(Note, {
  uses: [access(ConfigMap, "get")],
  mutate(note) {
    note.spec.text += ", seen";
  },
  async validate({ spec }, { get, log }) {
    log.info("Note looked at");
    if (spec.text === "forbidden") throw deny("nobody may say that");
    if (spec.text === "broken") throw new TypeError("it is broken");
    await get(ConfigMap, "words", { namespace: "default" });
  },
});

const op = operator({
  name: "note-operator",
  parts: { noteRules, notes },
  health: false,
  leaderElection: false,
  webhooks: { hostname: "127.0.0.1", port: 0 },
});
export default op;
if (import.meta.main) await op.main();
