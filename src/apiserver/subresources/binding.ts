/**
 * Binds pods to nodes, as a scheduler does (`BindingREST` of
 * `k8s.io/kubernetes/pkg/registry/core/pod/storage`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { type FieldError, notSupported, required } from "../../schema/field_error.ts";
import type { Core } from "../core/core.ts";
import { updateObject } from "../core/persist.ts";
import type { Target } from "../core/target.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { conflict, StatusError } from "../wire/status_error.ts";
import { withPodCondition } from "./pod_conditions.ts";

/**
 * Binds a pod to a node. As in a real server, the changed fields get no manager.
 *
 * @param core The server.
 * @param target Target of the request: the pod.
 * @param binding The body: the node, and annotations and labels for the pod.
 * @param dryRun Whether to validate the request without storing changes.
 * @throws {StatusError} If the pod does not exist, a precondition fails, or the pod cannot be
 * bound.
 */
export function bind(core: Core, { kind, namespace, name = "" }: Target, binding: Draft, dryRun: boolean): void {
  const target = own(binding, "target");
  const errors = targetErrors(isObject(target) ? target : {});
  if (errors.length > 0) {
    const texts = errors.map(({ field, message }) => `${field}: ${message}`);
    throw new StatusError(500, undefined, texts.length === 1 ? texts[0] ?? "" : `[${texts.join(", ")}]`);
  }
  const { uid, resourceVersion, labels, annotations } = metadataOf(binding);
  const change = (live: StoredObject) => {
    const { metadata } = live;
    const detail = preconditionError("UID", uid, metadata.uid) ??
      preconditionError("ResourceVersion", resourceVersion, metadata.resourceVersion);
    if (detail !== undefined) {
      const key = `/registry/pods/${namespace}/${name}`;
      const error =
        `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${detail}`;
      throw conflict({ group: "", plural: "pods" }, name, error);
    }
    const reason = unbindableReason(live);
    if (reason !== undefined) {
      throw conflict({ group: "", plural: "pods/binding" }, name, `pod ${name} ${reason}`);
    }
    const { nominatedNodeName: _, ...status } = (live.status ?? {}) as Draft;
    const bound = { ...live, spec: { ...live.spec as object, nodeName: (target as Draft).name }, status };
    const labeled = withMetadata(bound as StoredObject, {
      ...labels !== undefined && { labels: { ...metadata.labels, ...labels } },
      ...annotations !== undefined && { annotations: { ...metadata.annotations, ...annotations } },
    });
    return withPodCondition(labeled, { type: "PodScheduled", status: "True" }, core.clock.now());
  };
  updateObject(core, kind, { namespace, name, dryRun, subresource: "binding" }, change);
}

function targetErrors({ kind, name }: Readonly<Record<string, unknown>>): FieldError[] {
  return [
    ...kind && kind !== "Node" ? [notSupported("target.kind", kind, ["Node", "<empty>"])] : [],
    ...name ? [] : [required("target.name")],
  ];
}

function preconditionError(field: string, wanted: string | undefined, actual: string): string | undefined {
  if (!wanted || wanted === actual) return undefined;
  return `Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${actual}`;
}

/** Returns the reason why a pod cannot be bound to a node; `undefined` if it can. */
function unbindableReason({ metadata, spec }: StoredObject): string | undefined {
  const { nodeName, schedulingGates } = spec as { nodeName?: string; schedulingGates?: readonly unknown[] };
  if (metadata.deletionTimestamp !== undefined) return "is being deleted, cannot be assigned to a host";
  if (nodeName) return `is already assigned to node ${JSON.stringify(nodeName)}`;
  return (schedulingGates?.length ?? 0) > 0 ? "has non-empty .spec.schedulingGates" : undefined;
}
