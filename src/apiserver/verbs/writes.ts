/** create, update and patch, from the request to the answer. */
import { isObject } from "../../base/json.ts";
import { applyMergePatch } from "../../base/merge_patch.ts";
import { own } from "../../base/own.ts";
import { invalid as invalidField } from "../../schema/field_error.ts";
import { admitted, writeOf } from "../admission/admitted.ts";
import { sorted } from "../apply/field_set.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { checkName, creating, updating } from "../core/persist.ts";
import type { Outcome, Target } from "../core/target.ts";
import { decodeBody, type DecodeOptions, PatchedFault, unusable } from "../objects/decode_body.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject } from "../objects/objects.ts";
import { type WriteOptions, writeOptions } from "../objects/options.ts";
import {
  contentType,
  jsonFault,
  kindMissing,
  type ParsedBody,
  parseJson,
  parseObject,
  protobufFault,
  readBody,
} from "../wire/body.ts";
import { goValue } from "../wire/go_value.ts";
import { duplicateKeys, endlessNumber } from "../wire/json_keys.ts";
import { readJsonPatch } from "../wire/json_patch.ts";
import { PROTOBUF } from "../wire/protobuf/media_type.ts";
import { badRequest, invalid, unsupportedMediaType, unsupportedPatch } from "../wire/status_error.ts";
import { carryWritten } from "../wire/written_numbers.ts";
import { applyObject } from "./apply.ts";
import { applyStrategicPatch } from "./strategic_patch.ts";
import { guardOf } from "./write_guard.ts";

function optionsOf(request: Request, query: URLSearchParams, kind: string): WriteOptions {
  return writeOptions(query, request.headers.get("user-agent") ?? "", kind);
}

/** Makes the object of a POST. */
export async function create(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, query, warnings } = target;
  const options = optionsOf(request, query, "CreateOptions");
  const { value, duplicates } = await bodyOf(kind, request);
  const draft = decodeBody(kind, value as Draft, { ...options, duplicates, warnings });
  return await createDecoded(core, target, draft, options);
}

/** Kinds of which a PUT makes what is not there. */
const MADE_BY_PUT = new Set([
  "/endpoints",
  "/events",
  "/limitranges",
  "/services",
  "coordination.k8s.io/leases",
  "coordination.k8s.io/leasecandidates",
  "node.k8s.io/runtimeclasses",
  "rbac.authorization.k8s.io/clusterrolebindings",
  "rbac.authorization.k8s.io/clusterroles",
  "rbac.authorization.k8s.io/rolebindings",
  "rbac.authorization.k8s.io/roles",
]);

function isMadeByPut(core: Core, { kind, namespace, name = "", subresource }: Target): boolean {
  if (subresource !== undefined || !MADE_BY_PUT.has(kind.collection)) return false;
  return core.store.get(kind.collection, keyOf(namespace, name)) === undefined;
}

async function createDecoded(core: Core, target: Target, draft: Draft, options: WriteOptions): Promise<Outcome> {
  const { kind, namespace, warnings } = target;
  const write = writeOf(target, "CREATE", options, metadataOf(draft).name ?? "");
  const written = await admitted(
    core,
    write,
    creating(core, kind, draft, {
      namespace,
      dryRun: options.dryRun,
      ...guardOf(core, target),
      track: (object) => trackUpdate(core, kind, undefined, object, { manager: options.manager }),
    }),
  );
  warnings.push(...written.warnings);
  return { code: 201, object: written.object };
}

async function bodyOf(kind: ServedKind, request: Request): Promise<ParsedBody> {
  const text = await readBody(request);
  if (kind.isBuiltin && contentType(request.headers) === PROTOBUF) throw protobufFault(text, kind.kind);
  const body = await parseObject(text, contentType(request.headers), kind.kind);
  if (kind.isBuiltin) return body;
  if (!own(body.value as Draft, "kind")) throw kindMissing(kind.kind, text);
  const endless = endlessNumber(text);
  if (endless !== undefined) {
    throw unusable(kind, `json: cannot unmarshal number ${endless} into Go value of type float64`);
  }
  return body;
}

/** Replaces an object by that of a PUT. */
export async function update(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, name = "", query, warnings } = target;
  const options = optionsOf(request, query, "UpdateOptions");
  const { value, duplicates } = await bodyOf(kind, request);
  const draft = decodeBody(kind, value as Draft, { ...options, duplicates, warnings });
  checkName(draft, name);
  if (isMadeByPut(core, target)) {
    core.access.checkCreate(target.user, kind, { namespace: target.namespace, name });
    return await createDecoded(core, target, draft, options);
  }
  return await change(core, target, options, () => draft, true);
}

/** The media types of patches. */
export const PATCHES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** Changes an object by a PATCH. */
export async function patch(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, query, name = "", warnings } = target;
  const options = optionsOf(request, query, "PatchOptions");
  const type = contentType(request.headers);
  const types = Object.values(PATCHES).filter((each) => kind.isBuiltin || each !== PATCHES.strategic);
  if (!types.some((each) => each === type)) throw kind.isBuiltin ? unsupportedPatch() : unsupportedMediaType(types);
  const text = await readBody(request);
  if (type === PATCHES.apply) return await applyObject(core, target, text, options);
  return await change(core, target, options, (live) => {
    // Read once there is something to change: where there is not, nobody learns of what is wrong with it.
    const edit = editOf(kind, type, text);
    const draft = decodePatched(kind, edit.apply(live) as Draft, edit, { ...options, warnings });
    checkName(draft, name);
    return draft;
  }, false);
}

/** A patch that was read. */
export interface Edit {
  /** Fields of the patch that are there twice, or that there are not. */
  readonly faults: readonly string[];
  /** What makes of an object what it is to be. */
  readonly apply: (live: StoredObject) => unknown;
  /** What a message quotes when the patched object is not right: the object, or of a strategic merge patch the patch. */
  readonly quoted: (edited: Draft) => string;
  readonly isStrategic: boolean;
}

/**
 * How a patch changes an object.
 *
 * @throws {StatusError} If it is none.
 */
export function editOf(kind: ServedKind, type: string, text: string): Edit {
  const isStrategic = type === PATCHES.strategic;
  const prefix = isStrategic ? "" : "error decoding patch: ";
  let patch: unknown;
  try {
    patch = parseJson(text);
  } catch {
    throw badRequest(`${prefix}${jsonFault(text)}`);
  }
  const quoted = (edited: Draft) => patchedText(kind, edited, touchesMetadata(patch));
  const ofObject = { isStrategic, quoted };
  if (type === PATCHES.json) {
    const { faults, apply } = readJsonPatch(patch, text);
    return { ...ofObject, faults, apply };
  }
  const faults = duplicateKeys(text).map((field) => `duplicate field "${field}"`);
  if (isStrategic) {
    const changes = patch ?? {};
    if (!isObject(changes)) throw notAnObject(prefix, patch);
    const apply = (live: StoredObject) => applyStrategicPatch(kind.schema, live, changes);
    return { faults, apply, isStrategic, quoted: () => goValue(changes) };
  }
  if (!isObject(patch)) throw notAnObject(prefix, patch);
  const apply = (live: StoredObject) => {
    const edited = applyMergePatch(live, patch);
    carryWritten(patch, edited);
    return edited;
  };
  return { ...ofObject, faults, apply };
}

/**
 * Decodes what a patch made. What is wrong with it is a fault of the patch, not of a body.
 *
 * @param kind The kind.
 * @param edited What the patch made.
 * @param edit The patch.
 * @param options How strict to be, and what to do with warnings.
 * @throws {StatusError} If it is refused.
 */
export function decodePatched(kind: ServedKind, edited: Draft, edit: Edit, options: DecodeOptions): Draft {
  try {
    return decodeBody(kind, edited, { ...options, patched: edit });
  } catch (error) {
    if (!(error instanceof PatchedFault)) throw error;
    throw invalid({ group: "", kind: "" }, "", [invalidField("patch", edit.quoted(edited), error.message)]);
  }
}

/** Whether a patch changes something within the metadata: the server then prints that in the order of keys. */
function touchesMetadata(patch: unknown): boolean {
  if (!Array.isArray(patch)) return isObject(patch) && Object.hasOwn(patch, "metadata");
  return patch.some(({ path, from }) => /^\/metadata\//.test(String(path)) || /^\/metadata\//.test(String(from)));
}

/** The patched object as the server prints it: keys in order, but untouched metadata of a built-in kind in the order of its struct. */
function patchedText(kind: ServedKind, edited: Draft, isTouched: boolean): string {
  if (!kind.isBuiltin) return sorted(edited);
  const parts = Object.keys(edited).sort().map((key) => {
    if (key !== "metadata") return `${JSON.stringify(key)}:${JSON.stringify(edited[key])}`;
    const metadata = metadataOf(edited);
    const keys = isTouched
      ? Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => a < b ? -1 : 1))
      : inOrder(metadata);
    return `"metadata":${JSON.stringify(keys)}`;
  });
  return `{${parts.join(",")}}`;
}

const METADATA_ORDER = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

function inOrder(metadata: Draft): Draft {
  const first = METADATA_ORDER.filter((key) => metadata[key] !== undefined).map((key) => [key, metadata[key]]);
  return { ...Object.fromEntries(first), ...metadata };
}

function notAnObject(prefix: string, patch: unknown): Error {
  if (patch === null) return badRequest("Invalid JSON Patch");
  const type = Array.isArray(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch;
  return badRequest(
    `${prefix}json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

/** Writes a changed object, and says whose fields changed. */
async function change(
  core: Core,
  target: Target,
  options: WriteOptions,
  make: (live: StoredObject) => Draft,
  isWhole: boolean,
): Promise<Outcome> {
  const { kind, namespace, name = "", subresource, warnings } = target;
  const request = {
    namespace,
    name,
    dryRun: options.dryRun,
    ...guardOf(core, target),
    isWhole,
    ...(subresource && { subresource }),
    track: (next: StoredObject, old: StoredObject) =>
      trackUpdate(core, kind, old, next, { manager: options.manager, ...(subresource && { subresource }) }),
  };
  const written = await admitted(core, writeOf(target, "UPDATE", options), updating(core, kind, request, make));
  warnings.push(...written.warnings);
  return { code: 200, object: written.object };
}
