/** A kind, a controller that records its reconciles, and helpers to query them. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { type Context, controller, type Infer, type ReconcileResult, resource, s } from "@op/sdk";
import { ConfigMap } from "@op/sdk/kinds";
import type { MemoryCluster } from "@op/sdk/testing";

export const Note = resource({
  group: "demo.example.com",
  version: "v1",
  kind: "Note",
  spec: s.object({ text: s.string({ default: "hello" }) }),
  status: s.object({ text: s.optional(s.string()), runs: s.optional(s.integer()) }),
});
export type Note = Infer<typeof Note>;
export type NoteContext = Context<typeof Note, readonly [typeof ConfigMap]>;

export const FINALIZER = "demo.example.com/test.notes";

export type Reconcile = (note: Note, context: NoteContext) => Promise<ReconcileResult> | ReconcileResult;

/** Creates a controller that records each reconcile: `name text: reason`. */
export function recording(
  reconcile: Reconcile = () => {},
  options: Omit<Parameters<typeof controller<typeof Note, readonly [typeof ConfigMap]>>[1], "owns" | "reconcile"> = {},
  kind = Note,
) {
  const runs: string[] = [];
  const notes = controller(kind, {
    ...options,
    owns: [ConfigMap],
    reconcile(note, context) {
      runs.push(`${note.metadata.name} ${note.spec.text}: ${context.reason}`);
      return reconcile(note, context);
    },
  });
  return { notes, runs };
}

export async function applyText({ metadata: { name }, spec }: Note, { apply }: NoteContext): Promise<void> {
  await apply(ConfigMap, { metadata: { name }, data: { text: spec.text } });
}

export function ownedBy({ apiVersion, kind, metadata: { name, uid } }: Note) {
  return { apiVersion, kind, name, uid, controller: true };
}

export async function conditions(cluster: MemoryCluster): Promise<string[]> {
  const { status } = await cluster.get(Note, "a");
  return (status?.conditions ?? []).map(({ type, status, reason, message }) =>
    `${type}=${status} ${reason}: ${message}`
  );
}

/** Returns the operator's writes without Events: `PATCH notes/a/status`. */
export function writes({ requests }: MemoryCluster): string[] {
  return requests.filter(({ method, path, userAgent }) =>
    method !== "GET" && userAgent === "test/0.0.0" && !path.startsWith("/apis/events.k8s.io/")
  )
    .map(({ method, path }) =>
      `${method} ${path.replace(/\?.*/, "").split("/").slice(path.startsWith("/api/") ? 5 : 6).join("/")}`
    );
}

/** Waits turns of the event loop until a condition holds. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; !await isSo(); turn++) {
    assert(turn < 1000, "it never came");
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
