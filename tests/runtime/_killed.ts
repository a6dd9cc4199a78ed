/**
 * An operator with many kinds of writes, to be killed between any two of them, and its expected
 * result.
 */
import { controller, operator } from "@op/sdk";
import type { Client } from "@op/sdk/client";
import { ConfigMap } from "@op/sdk/kinds";
import { Note } from "./_notes.ts";

/**
 * Creates two children and a copy without an owner reference, writes Events and status, and cleans
 * up.
 */
const notes = controller(Note, {
  owns: [ConfigMap],
  async reconcile(note, { apply, applyAll, events, status }) {
    const { metadata: { name }, spec: { text } } = note;
    await applyAll([
      [ConfigMap, { metadata: { name: `${name}-${text}` }, data: { text } }],
      [ConfigMap, { metadata: { name }, data: { text } }],
    ]);
    await apply(ConfigMap, { metadata: { name: `${name}-copy` }, data: { text } }, { owner: false });
    events.normal("Copied", text);
    status({ text });
  },
  prune: true,
  async cleanup({ metadata: { name } }, context) {
    await context.delete(ConfigMap, `${name}-copy`);
  },
  uses: [{ kind: ConfigMap, verbs: ["delete"] }],
});
export const op = operator({ name: "note-operator", parts: { notes }, health: false });

/** Returns what the operator wrote in a namespace, without the parts that differ each time. */
export async function world(client: Client, namespace: string): Promise<unknown> {
  const maps = await client.list(ConfigMap, { namespace });
  const all = await client.list(Note, { namespace });
  return {
    maps: maps.map(({ metadata: { name, ownerReferences }, data }) => ({
      name,
      data,
      owners: ownerReferences?.map(({ kind, name, controller }) => ({ kind, name, controller })),
    })),
    notes: all.map(({ metadata: { name, finalizers }, spec, status }) => ({
      name,
      finalizers,
      spec,
      text: status?.text,
      conditions: status?.conditions?.map(({ type, status, reason, observedGeneration }) => ({
        type,
        status,
        reason,
        observedGeneration,
      })),
    })),
  };
}
