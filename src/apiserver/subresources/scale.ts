/**
 * Serves the `scale` subresource, which represents the replicas of an object in the same form for
 * all kinds (`autoscaling/v1`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { invalid as invalidField } from "../../schema/field_error.ts";
import { writeAdmitted, writeOf } from "../admission/admitted.ts";
import { encodeManaged, trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { checkName, updateSteps } from "../core/persist.ts";
import type { Steps } from "../core/steps.ts";
import type { Outcome, Target } from "../core/target.ts";
import { decode } from "../objects/decode.ts";
import { decodeBody } from "../objects/decode_body.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject, withMetadata } from "../objects/objects.ts";
import { type WriteOptions, writeOptions } from "../objects/options.ts";
import { countAt, keysOf, stringAt, valueAt, withValueAt } from "../objects/replicas.ts";
import { builtinSchema } from "../objects/server_schema.ts";
import { applyConfig, parseConfig } from "../verbs/apply.ts";
import { getObject } from "../verbs/read.ts";
import { decodePatched, parsePatch, PATCHES } from "../verbs/writes.ts";
import { contentType, parseObject, readBody } from "../wire/body.ts";
import {
  badRequest,
  conflict,
  internalError,
  invalid,
  StatusError,
  unsupportedMediaType,
} from "../wire/status_error.ts";
import { ownersAfterScale, type ReplicasPaths, scaleOwners } from "./scale_fields.ts";

/** Returns whether a request is for the scale of an object. */
export function isScale({ subresource }: Target): boolean {
  return subresource === "scale";
}

/** Returns or changes the replicas of an object. */
export async function serveScale(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, namespace, name = "", query } = target;
  if (request.method !== "PUT" && request.method !== "PATCH") {
    const { scale, isSet } = scaleOf(kind, getObject(core, kind, namespace, name));
    if (isSet) return { code: 200, object: scale };
    throw internalError(`the spec replicas field ${JSON.stringify(kind.scale?.specReplicasPath)} does not exist`);
  }
  const optionsKind = request.method === "PUT" ? "UpdateOptions" : "PatchOptions";
  const options = writeOptions(query, request.headers.get("user-agent") ?? "", optionsKind);
  const edit = await parseScaleEdit(core, target, request, options);
  const steps = updateSteps(core, kind, { namespace, name, dryRun: options.dryRun }, (live) => {
    const before = scaleBefore(kind, live);
    const wanted = edit(before);
    checkName(wanted, name);
    checkScale(kind, wanted, live, namespace);
    const { managedFields = [] } = live.metadata;
    const owners = metadataOf(wanted).managedFields ?? [];
    const changed = withValueAt(live, pathsOf(kind).spec, replicasOf(wanted)) as StoredObject;
    return withMetadata(changed, {
      resourceVersion: metadataOf(wanted).resourceVersion || live.metadata.resourceVersion,
      managedFields: ownersAfterScale(managedFields, owners, replicasPaths(kind), kind.apiVersion),
    });
  });
  const { object } = await writeAdmitted(core, writeOf(target, "UPDATE", options), withScaleAdmission(kind, steps));
  return { code: 200, object: scaleOf(kind, object).scale };
}

/**
 * Wraps the steps of a write so that webhooks receive the scale instead of the object, and can
 * change its replicas.
 */
function* withScaleAdmission<T>(kind: ServedKind, steps: Steps<T>): Steps<T> {
  let next = steps.next();
  while (!next.done) {
    if (next.value.phase === "convert") {
      next = steps.next(yield next.value);
      continue;
    }
    const { phase, object, old } = next.value;
    // Webhooks receive no managed fields.
    const scale = (of: StoredObject) => withMetadata(scaleBefore(kind, of), { managedFields: undefined });
    const scaleStep = { phase, object: scale(object), ...(old && { old: scale(old) }) };
    const admitted = yield scaleStep;
    next = steps.next(withValueAt(object, pathsOf(kind).spec, replicasOf(admitted)) as StoredObject);
  }
  return next.value;
}

type ScaleEdit = (before: StoredObject) => Draft;

async function parseScaleEdit(core: Core, target: Target, request: Request, options: WriteOptions): Promise<ScaleEdit> {
  const { kind, name = "", warnings } = target;
  const type = contentType(request.headers);
  const text = await readBody(request);
  const tracked = (before: StoredObject, wanted: Draft) =>
    trackUpdate(core, SCALE, before, wanted as StoredObject, { manager: options.manager, subresource: "scale" });
  if (request.method === "PUT") {
    const { value, duplicates } = await parseObject(text, type, "Scale");
    const wanted = decodeBody(SCALE, value as Draft, { ...options, duplicates, warnings });
    return (before) => tracked(before, wanted);
  }
  const types = Object.values(PATCHES).filter((each) => kind.isBuiltin || each !== PATCHES.strategic);
  if (!types.some((each) => each === type)) throw unsupportedMediaType(types);
  if (type === PATCHES.apply) {
    const { config } = await parseConfig(SCALE, text);
    return (before) => {
      // The real server accepts an apply to the scale of a custom kind only if it makes no change.
      if (!kind.isBuiltin && before.metadata.managedFields === undefined) {
        throw conversionError("failed to create manager for existing fields: failed to convert live object", "/");
      }
      const result = applyConfig(core, { ...target, kind: SCALE }, before, config, options);
      if (!kind.isBuiltin && replicasOf(result.object) !== replicasOf(before)) {
        const { namespace = "", name = "" } = metadataOf(config);
        throw conversionError("failed to convert new object", `${namespace}/${name}`);
      }
      const wanted = decodeBody(SCALE, result.object, { fieldValidation: "Ignore", warnings: [] });
      return withMetadata(wanted, { managedFields: encodeManaged(result) });
    };
  }
  const edit = parsePatch(SCALE, type, text);
  return (before) => {
    // Clients do not see the managed fields of a scale.
    const edited = edit.apply(withMetadata(before, { managedFields: undefined })) as Draft;
    // Error messages quote the managed fields nevertheless, without their times.
    const owners = before.metadata.managedFields?.map(({ time: _time, ...owner }) => owner);
    const quote = (invalid: Draft) => edit.quote(withMetadata(invalid, { managedFields: owners }));
    const wanted = decodePatched(SCALE, edited, { ...edit, quote }, { ...options, warnings });
    checkName(wanted, name);
    return tracked(before, wanted);
  };
}

function conversionError(what: string, name: string): StatusError {
  const reason = "to proper version: request to convert CR to an invalid group/version: autoscaling/v1";
  return new StatusError(500, undefined, `${what} (${name}; autoscaling/v1, Kind=Scale) ${reason}`);
}

/**
 * Scale as a served kind, so that the code for kinds can decode its body and track its fields.
 */
const SCALE: ServedKind = {
  group: "autoscaling",
  version: "v1",
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  listKind: "ScaleList",
  plural: "scales",
  singular: "scale",
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: [],
  subresources: [],
  collection: "autoscaling/scales",
  isBuiltin: true,
  get schema() {
    return builtinSchema("io.k8s.api.autoscaling.v1.Scale");
  },
  rules: {
    allowsUnconditionalUpdate: true,
    decode(object) {
      const unknown: string[] = [];
      return { object: withoutZeroReplicas(decode(SCALE.schema, object, unknown) as Draft), unknown };
    },
    prepareCreate: (object) => object,
    prepareUpdate: (object) => object,
    validate: () => [],
    read: (stored) => stored,
  },
};

/** Go omits zero replicas, so they have no manager. */
function withoutZeroReplicas(scale: Draft): Draft {
  return replicasOf(scale) === 0 ? { ...scale, spec: {} } : scale;
}

function checkScale(kind: ServedKind, wanted: Draft, live: StoredObject, namespace: string | undefined): void {
  const { namespace: given, uid } = metadataOf(wanted);
  if (given && given !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const replicas = replicasOf(wanted);
  if (!kind.isBuiltin) {
    // The rules of the custom kind validate the value.
    if (replicas !== UNSET) return;
    const path = JSON.stringify(kind.scale?.specReplicasPath);
    throw badRequest(`the spec replicas field ${path} cannot be empty`);
  }
  const { name } = live.metadata;
  if (replicas < 0) {
    const error = invalidField("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid({ group: "autoscaling", kind: "Scale" }, name, [error]);
  }
  if (uid && uid !== live.metadata.uid) {
    const reason = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live.metadata.uid}`;
    throw conflict({ group: kind.group, plural: `${kind.plural}/scale` }, name, reason);
  }
}

function replicasOf(scale: Draft): number {
  const spec = own(scale, "spec");
  const replicas = isObject(spec) ? own(spec, "replicas") : undefined;
  return typeof replicas === "number" ? replicas : 0;
}

// The real server represents missing replicas by the smallest 32-bit integer.
const UNSET = -(2 ** 31);

/** Returns the scale of an object before a change. */
function scaleBefore(kind: ServedKind, live: StoredObject): StoredObject {
  const { scale, isSet } = scaleOf(kind, live);
  const owners = scaleOwners(live.metadata.managedFields ?? [], replicasPaths(kind));
  const spec = isSet || kind.isBuiltin ? scale.spec : { replicas: UNSET };
  return withMetadata({ ...scale, spec }, { managedFields: owners });
}

function replicasPaths(kind: ServedKind): ReplicasPaths {
  return kind.replicasPaths ?? new Map([[kind.apiVersion, ["f:spec", "f:replicas"]]]);
}

interface Paths {
  readonly spec: readonly string[];
  readonly status: readonly string[];
  readonly selector?: readonly string[];
}

function pathsOf({ scale }: ServedKind): Paths {
  if (scale === undefined) return { spec: ["spec", "replicas"], status: ["status", "replicas"] };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return {
    spec: keysOf(specReplicasPath),
    status: keysOf(statusReplicasPath),
    ...(labelSelectorPath && { selector: keysOf(labelSelectorPath) }),
  };
}

function scaleOf(kind: ServedKind, object: StoredObject): { scale: StoredObject; isSet: boolean } {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const paths = pathsOf(kind);
  const replicas = countAt(object, paths.spec);
  const selector = paths.selector === undefined ? builtinSelector(kind, object) : stringAt(object, paths.selector);
  const scale = {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: replicas === undefined || replicas === 0 ? {} : { replicas },
    status: { replicas: countAt(object, paths.status) ?? 0, ...(selector ? { selector } : {}) },
  };
  return { scale, isSet: replicas !== undefined || kind.isBuiltin };
}

function builtinSelector(kind: ServedKind, object: StoredObject): string | undefined {
  if (!kind.isBuiltin) return undefined;
  const selector = valueAt(object, ["spec", "selector"]);
  const labels = isObject(selector) ? own(selector, "matchLabels") ?? selector : {};
  return Object.entries(labels as object).sort().map(([key, value]) => `${key}=${value}`).join(",");
}
