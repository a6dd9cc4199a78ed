/** The `/scale` of a kind: its replicas, in one form for all kinds (`autoscaling/v1`). */
import { isObject } from "../base/json.ts";
import { applyMergePatch } from "../base/merge_patch.ts";
import { own, setOwn } from "../base/own.ts";
import { invalid as invalidField } from "../schema/field_error.ts";
import { contentType, parseObject, readBody } from "./body.ts";
import type { Core } from "./core.ts";
import type { ServedKind } from "./kinds.ts";
import { trackUpdate } from "./managed_fields.ts";
import { metadataOf, type StoredObject, withMetadata } from "./objects.ts";
import { writeOptions } from "./options.ts";
import { updateObject } from "./persist.ts";
import { getObject } from "./read.ts";
import { badRequest, invalid, unsupportedMediaType } from "./status_error.ts";
import type { Outcome, Target } from "./writes.ts";

/** Whether a request is about replicas. */
export function isScale({ subresource }: Target): boolean {
  return subresource === "scale";
}

/** Reads or changes the replicas of an object. */
export async function serveScale(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, namespace, name = "", query } = target;
  if (request.method === "GET") {
    return { code: 200, object: scaleOf(kind, getObject(core, kind, namespace, name)) };
  }
  const options = writeOptions(query, request.headers.get("user-agent") ?? "", "UpdateOptions");
  const edit = await editOf(request);
  const update = {
    namespace,
    name,
    dryRun: options.dryRun,
    track: (next: StoredObject, old: StoredObject) =>
      trackUpdate(core, kind, old, next, { manager: options.manager, subresource: "scale" }),
  };
  const { object } = updateObject(core, kind, update, (live) => {
    const wanted = edit(scaleOf(kind, live));
    const spec = own(wanted, "spec");
    const replicas = (isObject(spec) ? own(spec, "replicas") : undefined) ?? 0;
    if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
      throw badRequest(
        `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
      );
    }
    if (replicas < 0) {
      const fault = invalidField("spec.replicas", replicas, "must be greater than or equal to 0");
      throw invalid({ group: "autoscaling", kind: "Scale" }, name, [fault]);
    }
    const { resourceVersion } = metadataOf(wanted);
    const changed = withAt(live, pathsOf(kind).spec, replicas) as StoredObject;
    return withMetadata(changed, { resourceVersion: resourceVersion || live.metadata.resourceVersion });
  });
  return { code: 200, object: scaleOf(kind, object) };
}

async function editOf(request: Request): Promise<(scale: StoredObject) => Record<string, unknown>> {
  const type = contentType(request.headers);
  const text = await readBody(request);
  if (request.method === "PUT") {
    const { value } = await parseObject(text, type, "Scale");
    return () => value as Record<string, unknown>;
  }
  // A scale holds no list, so both patches mean the same.
  if (type !== "application/merge-patch+json" && type !== "application/strategic-merge-patch+json") {
    throw unsupportedMediaType(["application/merge-patch+json", "application/strategic-merge-patch+json"]);
  }
  const { value } = await parseObject(text, "application/json", "Scale");
  return (scale) => applyMergePatch(scale, value) as Record<string, unknown>;
}

function pathsOf({ scale }: ServedKind): { spec: string[]; status: string[]; selector?: string[] } {
  const keys = (path: string) => path.replace(/^\./, "").split(".");
  if (scale === undefined) return { spec: ["spec", "replicas"], status: ["status", "replicas"] };
  return {
    spec: keys(scale.specReplicasPath),
    status: keys(scale.statusReplicasPath),
    ...(scale.labelSelectorPath !== undefined && { selector: keys(scale.labelSelectorPath) }),
  };
}

function scaleOf(kind: ServedKind, object: StoredObject): StoredObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const paths = pathsOf(kind);
  const replicas = valueAt(object, paths.spec);
  const selector = paths.selector === undefined ? builtinSelector(kind, object) : valueAt(object, paths.selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: { replicas: valueAt(object, paths.status) ?? 0, ...(selector ? { selector } : {}) },
  };
}

function builtinSelector(kind: ServedKind, object: StoredObject): string | undefined {
  if (!kind.isBuiltin) return undefined;
  const selector = valueAt(object, ["spec", "selector"]);
  const labels = isObject(selector) ? own(selector, "matchLabels") ?? selector : {};
  return Object.entries(labels as object).sort().map(([key, value]) => `${key}=${value}`).join(",");
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => isObject(value) ? own(value, key) : undefined, object);
}

function withAt(object: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const result: Record<string, unknown> = isObject(object) ? { ...object } : {};
  setOwn(result, key, withAt(own(result, key), rest, value));
  return result;
}
