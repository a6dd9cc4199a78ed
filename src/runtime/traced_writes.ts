/** Records the writes of a reconcile whose object is in a hot loop. */
import { isObject } from "../base/json.ts";
import type { PatchOptions } from "../parts/context.ts";
import type { KubeObject } from "../resource/kind.ts";
import { keyOf } from "../watch/key.ts";
import {
  type Difference,
  differences,
  type FieldPath,
  isOwned,
  lastWriter,
  ownerOf,
  patchedFields,
} from "./field_path.ts";
import type { ReconcileEffects } from "./loop_trace.ts";
import { cacheOf, type LoopScope, type Target } from "./scope.ts";

/** The parts of a reconcile that recording a write needs. */
interface Writing {
  readonly effects: ReconcileEffects;
  readonly signal: AbortSignal;
}

/** A write before it is sent. Afterwards the controller owns its fields. */
export type Write =
  | { readonly verb: "create" | "delete" }
  | { readonly verb: "apply"; readonly wanted: KubeObject; readonly live: KubeObject | undefined }
  | { readonly verb: "patch"; readonly patch: unknown; readonly options?: PatchOptions };

/**
 * Records a write, and finds the field manager that keeps changing its fields.
 *
 * @param scope The scope of the loop or part that writes.
 * @param run The reconcile.
 * @param target The object that is written.
 * @param write The write.
 */
export async function traceWrite(scope: LoopScope, run: Writing, target: Target, write: Write): Promise<void> {
  const { effects: { trace } } = run;
  if (trace === undefined) return;
  const { kind, name = "", namespace } = target;
  const key = keyOf({ name, namespace });
  for (const { path, wanted } of fieldsOf(write)) {
    if (trace.wrote({ kind, key }, path, wanted)) run.effects.repeated = true;
  }
  const field = trace.lookup({ kind, key });
  if (field !== undefined) field.otherManager = await otherManager(scope, run.signal, target, field.path);
}

function fieldsOf(write: Write): readonly Difference[] {
  if (write.verb === "apply" && write.live !== undefined) return differences(write.wanted, write.live);
  return write.verb === "patch" ? patchFields(write.patch, write.options) : [WHOLE];
}

/** Stands for a whole object that is created or deleted. */
const WHOLE: Difference = { path: [], wanted: undefined };

async function otherManager(
  scope: LoopScope,
  signal: AbortSignal,
  { kind, name = "", namespace }: Target,
  path: FieldPath,
): Promise<string | undefined> {
  const cached = cacheOf(scope, kind, namespace)?.get(keyOf({ name, namespace }));
  if (cached === undefined) return undefined;
  // The cache stores only this operator's entries of managedFields.
  const sibling = ownerOf(cached, path, scope.manager);
  if (sibling !== undefined) return sibling;
  // The controller has the permission to list, but perhaps not to get.
  const listed = await scope.client.list(kind, {
    fieldSelector: `metadata.name=${name}`,
    signal,
    ...(namespace === undefined ? {} : { namespace }),
  }).catch(() => []) as readonly KubeObject[];
  const [live] = listed;
  if (live === undefined) return undefined;
  const owner = ownerOf(live, path, scope.manager);
  if (owner !== undefined || isOwned(live, path)) return owner;
  return lastWriter(live, scope.manager);
}

function patchFields(patch: unknown, { type = "merge", subresource }: PatchOptions = {}): readonly Difference[] {
  if (type === "json") return subresource === "status" ? statusOperations(patch) : operations(patch);
  const fields = subresource === "status" ? statusFields(patch) : patchedFields(patch);
  return fields.filter(({ path }) => path[1] !== "f:resourceVersion");
}

/** Returns the fields of a status patch. Each condition is one field, without its time. */
function statusFields(patch: unknown): readonly Difference[] {
  const { status } = isObject(patch) ? patch : {};
  if (!isObject(status)) return [];
  const { conditions, observedGeneration: _, ...rest } = status;
  const others = Object.keys(rest).length === 0 ? [] : patchedFields({ status: rest });
  if (!Array.isArray(conditions)) return others;
  return [
    ...others,
    ...conditions.filter(isObject).map(({ type, status, reason, message }) => ({
      path: ["f:status", "f:conditions", `k:${JSON.stringify({ type })}`],
      wanted: { status, reason, message },
    })),
  ];
}

/** Returns the fields of a JSON patch of a status, as {@linkcode statusFields} does. */
function statusOperations(patch: unknown): readonly Difference[] {
  if (!Array.isArray(patch)) return [];
  return patch.filter(isObject).filter(({ op }) => op !== "test").flatMap((operation) => {
    const { path, value } = operation;
    if (path === "/status") return statusFields({ status: value });
    const name = WHOLE_STATUS_FIELDS.find((name) => path === `/status/${name}`);
    return name === undefined ? operations([operation]) : statusFields({ status: { [name]: value } });
  });
}

const WHOLE_STATUS_FIELDS: readonly string[] = ["conditions", "observedGeneration"];

/** Returns the fields of a JSON patch. */
function operations(patch: unknown): readonly Difference[] {
  if (!Array.isArray(patch)) return [];
  return patch.filter(isObject).filter(({ op }) => op !== "test").map(({ path, value }) => ({
    path: String(path).split("/").slice(1).map((step) => `f:${step.replaceAll("~1", "/").replaceAll("~0", "~")}`),
    wanted: value,
  }));
}
