/** create, update and patch, from the request to the answer. */
import { isObject } from "../base/json.ts";
import { applyJsonPatch, type JsonPatchOperation } from "../base/json_patch.ts";
import { applyMergePatch } from "../base/merge_patch.ts";
import { own } from "../base/own.ts";
import { invalid as invalidField } from "../schema/field_error.ts";
import { sorted } from "./apply/field_set.ts";
import { applyObject } from "./apply.ts";
import { contentType, jsonFault, kindMissing, type ParsedBody, parseObject, readBody } from "./body.ts";
import type { Core } from "./core.ts";
import { decodeBody, type DecodeOptions } from "./decode_body.ts";
import type { ServedKind } from "./kinds.ts";
import { trackUpdate } from "./managed_fields.ts";
import { type Draft, metadataOf, type StoredObject } from "./objects.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { checkName, createObject, updateObject } from "./persist.ts";
import { badRequest, invalid, patchRejected, StatusError, unsupportedMediaType } from "./status_error.ts";
import { applyStrategicPatch } from "./strategic_patch.ts";

/** A request about one kind. */
export interface Target {
  readonly kind: ServedKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  /** What the answer warns of, be it a refusal or not. */
  readonly warnings: string[];
}

/** What is answered. */
export interface Outcome {
  readonly code: number;
  readonly object: StoredObject;
}

function optionsOf(request: Request, query: URLSearchParams, kind: string): WriteOptions {
  return writeOptions(query, request.headers.get("user-agent") ?? "", kind);
}

/** Makes the object of a POST. */
export async function create(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, namespace, query, warnings } = target;
  const options = optionsOf(request, query, "CreateOptions");
  const { value, duplicates } = await bodyOf(kind, request);
  const draft = decodeBody(kind, value as Draft, { ...options, duplicates, warnings });
  const written = createObject(core, kind, draft, {
    namespace,
    dryRun: options.dryRun,
    track: (object) => trackUpdate(core, kind, undefined, object, { manager: options.manager }),
  });
  warnings.push(...written.warnings);
  return { code: 201, object: written.object };
}

async function bodyOf(kind: ServedKind, request: Request): Promise<ParsedBody> {
  const text = await readBody(request);
  const body = await parseObject(text, contentType(request.headers), kind.kind);
  if (!kind.isBuiltin && !own(body.value as Draft, "kind")) throw kindMissing(kind.kind, text);
  return body;
}

/** Replaces an object by that of a PUT. */
export async function update(core: Core, target: Target, request: Request): Promise<Outcome> {
  const { kind, name = "", query, warnings } = target;
  const options = optionsOf(request, query, "UpdateOptions");
  const { value, duplicates } = await bodyOf(kind, request);
  const draft = decodeBody(kind, value as Draft, { ...options, duplicates, warnings });
  checkName(draft, name);
  return change(core, target, options, () => draft, true);
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
  if (!types.some((each) => each === type)) throw unsupportedMediaType(types);
  const text = await readBody(request);
  if (type === PATCHES.apply) return await applyObject(core, target, text, options);
  const edit = editOf(kind, type, text);
  return change(core, target, options, (live) => {
    const edited = edit(live) as Draft;
    const draft = decodePatched(kind, edited, { ...options, warnings }, type === PATCHES.strategic);
    checkName(draft, name);
    return draft;
  }, false);
}

/**
 * How a patch changes an object.
 *
 * @throws {StatusError} If it is none.
 */
export function editOf(kind: ServedKind, type: string, text: string): (live: StoredObject) => unknown {
  let patch: unknown;
  try {
    patch = JSON.parse(text);
  } catch (error) {
    throw badRequest(`error decoding patch: ${jsonFault(text, error)}`);
  }
  if (type === PATCHES.json) {
    if (!Array.isArray(patch)) {
      throw badRequest(
        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
      );
    }
    return (live) => {
      try {
        return object(applyOperations(live, patch as JsonPatchOperation[]));
      } catch {
        throw patchRejected();
      }
    };
  }
  if (!isObject(patch)) throw notAnObject(patch);
  if (type === PATCHES.merge) return (live) => applyMergePatch(live, patch);
  return (live) => applyStrategicPatch(kind.schema, live, patch);
}

/** Decodes what a patch made. What is wrong with it is a fault of the patch, not of a body. */
export function decodePatched(kind: ServedKind, edited: Draft, options: DecodeOptions, isStrategic: boolean): Draft {
  try {
    return decodeBody(kind, edited, options);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400 || isStrategic) throw error;
    const why = error.message.replace(/^.* cannot be handled as a \S+: /, "");
    throw invalid({ group: "", kind: "" }, "", [invalidField("patch", patchedText(kind, edited), why)]);
  }
}

/** The patched object as the server prints it: keys in order, the metadata of a built-in kind in the order of its struct. */
function patchedText(kind: ServedKind, edited: Draft): string {
  if (!kind.isBuiltin) return sorted(edited);
  const parts = Object.keys(edited).sort().map((key) => {
    const value = key === "metadata" ? inOrder(metadataOf(edited)) : edited[key];
    return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
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
];

function inOrder(metadata: Draft): Draft {
  const first = METADATA_ORDER.filter((key) => metadata[key] !== undefined).map((key) => [key, metadata[key]]);
  return { ...Object.fromEntries(first), ...metadata };
}

function notAnObject(patch: unknown): Error {
  if (patch === null) return badRequest("Invalid JSON Patch");
  const type = Array.isArray(patch) ? "array" : typeof patch === "boolean" ? "bool" : typeof patch;
  return badRequest(
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

/** Applies a JSON patch as the server's library does: to replace a key that is not there adds it. */
function applyOperations(live: StoredObject, operations: readonly JsonPatchOperation[]): unknown {
  return operations.reduce<unknown>((document, operation) => {
    if (operation.op !== "replace") return applyJsonPatch(document, [operation]);
    try {
      return applyJsonPatch(document, [operation]);
    } catch (error) {
      if (/\/(?:\d+|-)$/.test(operation.path)) throw error;
      return applyJsonPatch(document, [{ ...operation, op: "add" }]);
    }
  }, live);
}

function object(value: unknown): unknown {
  if (!isObject(value)) throw new TypeError("Cannot use the patched value: it is no object");
  return value;
}

/** Writes a changed object, and says whose fields changed. */
function change(
  core: Core,
  { kind, namespace, name = "", subresource, warnings }: Target,
  options: WriteOptions,
  make: (live: StoredObject) => Draft,
  isWhole: boolean,
): Outcome {
  const request = {
    namespace,
    name,
    dryRun: options.dryRun,
    isWhole,
    ...(subresource && { subresource }),
    track: (next: StoredObject, old: StoredObject) =>
      trackUpdate(core, kind, old, next, { manager: options.manager, ...(subresource && { subresource }) }),
  };
  const written = updateObject(core, kind, request, make);
  warnings.push(...written.warnings);
  return { code: 200, object: written.object };
}
