/** The verbs create, update and patch. */
import { isObject } from "../../base/json.ts";
import { applyMergePatch } from "../../base/merge_patch.ts";
import { own } from "../../base/own.ts";
import { createdByPut } from "../../openapi/registry.gen.ts";
import { invalid as invalidField } from "../../schema/field_error.ts";
import { writeAdmitted, writeOf } from "../admission/admitted.ts";
import { sorted } from "../apply/field_set.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { checkName, createSteps, updateSteps } from "../core/persist.ts";
import type { Outcome, Target } from "../core/target.ts";
import { decodeBody, type DecodeOptions, PatchedError, undecodable } from "../objects/decode_body.ts";
import { keyOf } from "../objects/key.ts";
import type { ServedKind } from "../objects/kinds.ts";
import { type Draft, metadataOf, type StoredObject } from "../objects/objects.ts";
import { type WriteOptions, writeOptions } from "../objects/options.ts";
import {
  contentType,
  jsonError,
  missingKindError,
  type ParsedBody,
  parseJson,
  parseObject,
  protobufError,
  readBody,
} from "../wire/body.ts";
import { goValue, jsonTypeName } from "../wire/go_value.ts";
import { duplicateKeys, infiniteNumber } from "../wire/json_keys.ts";
import { readJsonPatch } from "../wire/json_patch.ts";
import { PROTOBUF } from "../wire/protobuf/media_type.ts";
import { badRequest, invalid, unsupportedMediaType, unsupportedPatch } from "../wire/status_error.ts";
import { copyNumberSources } from "../wire/number_sources.ts";
import { applyObject } from "./apply.ts";
import { applyStrategicPatch } from "./strategic_patch.ts";
import { guardOf } from "./write_guard.ts";

function writeOptionsOf(request: Request, query: URLSearchParams, kind: string): WriteOptions {
  return writeOptions(query, request.headers.get("user-agent") ?? "", kind);
}

/** Creates the object in the body of a POST. */
export async function create(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, query, warnings } = target;
  const options = writeOptionsOf(request, query, "CreateOptions");
  const { value, duplicates } = await parseBody(kind, request);
  const draft = decodeBody(kind, value as Draft, { ...options, duplicates, warnings });
  return await createDecoded(core, target, draft, options);
}

function isCreatedByPut(core: Core, { kind, namespace, name = "", subresource }: Target): boolean {
  if (subresource !== undefined || !createdByPut.has(kind.collection)) return false;
  return core.store.get(kind.collection, keyOf(namespace, name)) === undefined;
}

async function createDecoded(core: Core, target: Target, draft: Draft, options: WriteOptions): Promise<Outcome> {
  const { kind, namespace, warnings } = target;
  const write = writeOf(target, "CREATE", options, metadataOf(draft).name ?? "");
  const created = await writeAdmitted(
    core,
    write,
    createSteps(core, kind, draft, {
      namespace,
      dryRun: options.dryRun,
      ...guardOf(core, target),
      track: (object) => trackUpdate(core, kind, undefined, object, { manager: options.manager }),
    }),
  );
  warnings.push(...created.warnings);
  return { code: 201, object: created.object };
}

async function parseBody(kind: ServedKind, request: Request): Promise<ParsedBody> {
  const text = await readBody(request);
  if (kind.isBuiltin && contentType(request.headers) === PROTOBUF) throw protobufError(text, kind.kind);
  const body = await parseObject(text, contentType(request.headers), kind.kind);
  if (kind.isBuiltin) return body;
  if (!own(body.value as Draft, "kind")) throw missingKindError(kind.kind, text);
  const infinite = infiniteNumber(text);
  if (infinite !== undefined) {
    throw undecodable(kind, `json: cannot unmarshal number ${infinite} into Go value of type float64`);
  }
  return body;
}

/** Replaces an object with the body of a PUT, or creates it if its kind allows that. */
export async function update(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, name = "", query, warnings } = target;
  const options = writeOptionsOf(request, query, "UpdateOptions");
  const { value, duplicates } = await parseBody(kind, request);
  const draft = decodeBody(kind, value as Draft, { ...options, duplicates, warnings });
  checkName(draft, name);
  if (isCreatedByPut(core, target)) {
    core.access.checkCreate(target.user, kind, { namespace: target.namespace, name });
    return await createDecoded(core, target, draft, options);
  }
  return await changeObject(core, target, options, () => draft, true);
}

/** Media types of patches. */
export const PATCHES = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

/** Updates an object with a PATCH. */
export async function patch(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, query, name = "", warnings } = target;
  const options = writeOptionsOf(request, query, "PatchOptions");
  const type = contentType(request.headers);
  const types = Object.values(PATCHES).filter((each) => kind.isBuiltin || each !== PATCHES.strategic);
  if (!types.some((each) => each === type)) throw kind.isBuiltin ? unsupportedPatch() : unsupportedMediaType(types);
  const text = await readBody(request);
  if (type === PATCHES.apply) return await applyObject(core, target, text, options);
  return await changeObject(core, target, options, (live) => {
    // The patch is parsed only if the object exists, since the error that it does not exist takes
    // precedence.
    const edit = parsePatch(kind, type, text);
    const draft = decodePatched(kind, edit.apply(live) as Draft, edit, { ...options, warnings });
    checkName(draft, name);
    return draft;
  }, false);
}

/** A parsed patch. */
export interface ParsedPatch {
  /** Errors about duplicate and unknown fields of the patch. */
  readonly errors: readonly string[];
  /** Returns the patched object. */
  readonly apply: (live: StoredObject) => unknown;
  /**
   * Formats the object that messages about an invalid result quote: the patched object or, for a
   * strategic merge patch, the patch.
   */
  readonly quote: (edited: Draft) => string;
  readonly isStrategic: boolean;
}

/**
 * Parses a patch.
 *
 * @throws {StatusError} If it is invalid.
 */
export function parsePatch(kind: ServedKind, type: string, text: string): ParsedPatch {
  const isStrategic = type === PATCHES.strategic;
  const prefix = isStrategic ? "" : "error decoding patch: ";
  let patch: unknown;
  try {
    patch = parseJson(text);
  } catch {
    throw badRequest(`${prefix}${jsonError(text)}`);
  }
  const quote = (edited: Draft) => quotePatched(kind, edited, changesMetadata(patch));
  const ofObject = { isStrategic, quote };
  if (type === PATCHES.json) {
    const { errors, apply } = readJsonPatch(patch, text);
    return { ...ofObject, errors, apply };
  }
  const errors = duplicateKeys(text).map((field) => `duplicate field "${field}"`);
  if (isStrategic) {
    const changes = patch ?? {};
    if (!isObject(changes)) throw notAnObject(prefix, patch);
    const apply = (live: StoredObject) => applyStrategicPatch(kind.schema, live, changes);
    return { errors, apply, isStrategic, quote: () => goValue(changes) };
  }
  if (!isObject(patch)) throw notAnObject(prefix, patch);
  const apply = (live: StoredObject) => {
    const edited = applyMergePatch(live, patch);
    copyNumberSources(patch, edited);
    return edited;
  };
  return { ...ofObject, errors, apply };
}

/**
 * Decodes a patched object. Errors are reported as errors of the patch.
 *
 * @param kind The kind.
 * @param edited The patched object.
 * @param edit The patch.
 * @param options Strictness, and the list that receives warnings.
 * @throws {StatusError} If the object is rejected.
 */
export function decodePatched(kind: ServedKind, edited: Draft, edit: ParsedPatch, options: DecodeOptions): Draft {
  try {
    return decodeBody(kind, edited, { ...options, patched: edit });
  } catch (error) {
    if (!(error instanceof PatchedError)) throw error;
    throw invalid({ group: "", kind: "" }, "", [invalidField("patch", edit.quote(edited), error.message)]);
  }
}

/**
 * Returns whether a patch changes metadata. If it does, messages of the real server quote the
 * metadata with sorted keys.
 */
function changesMetadata(patch: unknown): boolean {
  if (!Array.isArray(patch)) return isObject(patch) && Object.hasOwn(patch, "metadata");
  return patch.some(({ path, from }) => /^\/metadata\//.test(String(path)) || /^\/metadata\//.test(String(from)));
}

/**
 * Formats a patched object as the real server does: with sorted keys, except for unchanged metadata
 * of a built-in kind, which is in the order of its struct.
 */
function quotePatched(kind: ServedKind, edited: Draft, isMetadataChanged: boolean): string {
  if (!kind.isBuiltin) return sorted(edited);
  const parts = Object.keys(edited).sort().map((key) => {
    if (key !== "metadata") return `${JSON.stringify(key)}:${JSON.stringify(edited[key])}`;
    const metadata = metadataOf(edited);
    const keys = isMetadataChanged
      ? Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => a < b ? -1 : 1))
      : structOrder(metadata);
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

function structOrder(metadata: Draft): Draft {
  const first = METADATA_ORDER.filter((key) => metadata[key] !== undefined).map((key) => [key, metadata[key]]);
  return { ...Object.fromEntries(first), ...metadata };
}

function notAnObject(prefix: string, patch: unknown): Error {
  if (patch === null) return badRequest("Invalid JSON Patch");
  return badRequest(
    `${prefix}json: cannot unmarshal ${jsonTypeName(patch)} into Go value of type map[string]interface {}`,
  );
}

/** Writes a changed object, and updates its managed fields. */
async function changeObject(
  core: Core,
  target: Target,
  options: WriteOptions,
  draftOf: (live: StoredObject) => Draft,
  isFullUpdate: boolean,
): Promise<Outcome> {
  const { kind, namespace, name = "", subresource, warnings } = target;
  const request = {
    namespace,
    name,
    dryRun: options.dryRun,
    ...guardOf(core, target),
    isFullUpdate,
    ...(subresource && { subresource }),
    track: (next: StoredObject, old: StoredObject) =>
      trackUpdate(core, kind, old, next, { manager: options.manager, ...(subresource && { subresource }) }),
  };
  const steps = updateSteps(core, kind, request, draftOf);
  const changed = await writeAdmitted(core, writeOf(target, "UPDATE", options), steps);
  warnings.push(...changed.warnings);
  return { code: 200, object: changed.object };
}
