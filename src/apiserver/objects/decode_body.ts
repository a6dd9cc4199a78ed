/**
 * Decodes a body to an object of a kind: checks its version and kind, and drops unknown fields.
 * Depending on `fieldValidation`, unknown fields reject the request or add warnings.
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { resources } from "../../openapi/kubernetes.gen.ts";
import { goJson } from "../../schema/go_text.ts";
import { badRequest, internalError, StatusError } from "../wire/status_error.ts";
import { withNumberSources } from "../wire/number_sources.ts";
import { DecodeError } from "./decode.ts";
import type { ServedKind } from "./kinds.ts";
import { type Draft, metadataOf } from "./objects.ts";
import type { WriteOptions } from "./options.ts";
import { jsonTypeName } from "../wire/go_value.ts";

/** Options of {@linkcode decodeBody}. */
export interface DecodeOptions extends Pick<WriteOptions, "fieldValidation"> {
  /** Errors for keys that occur twice. */
  readonly duplicates?: readonly string[];
  /**
   * The applied configuration, if the object comes from a server-side apply. Its types have already
   * been checked, and fields may be null.
   */
  readonly applied?: Draft;
  /**
   * The patch, if the object is the result of one. Errors are then reported as errors of the patch.
   */
  readonly patched?: { readonly errors: readonly string[]; readonly isStrategic: boolean };
  /** Receives the warnings. */
  readonly warnings: string[];
}

/** The error for an object that a patch made invalid. */
export class PatchedError extends Error {
  override name = "PatchedError";
}

/**
 * Decodes a body.
 *
 * @param kind Kind of the resource in the path.
 * @param value The body.
 * @param options Strictness, and the list that receives warnings.
 * @returns The object without unknown fields, with defaults.
 * @throws {StatusError} If the body is rejected.
 */
export function decodeBody(kind: ServedKind, value: Draft, options: DecodeOptions): Draft {
  checkType(kind, value, options);
  let decoded;
  try {
    const keepsType = options.patched !== undefined && !kind.isBuiltin;
    const typed = keepsType
      ? value
      : withNumberSources(value, { ...value, apiVersion: kind.apiVersion, kind: own(value, "kind") || kind.kind });
    const { decodeApplied } = kind.rules;
    decoded = options.applied !== undefined && decodeApplied !== undefined
      ? decodeApplied(typed)
      : kind.rules.decode(typed);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    if (options.patched !== undefined) {
      throw new PatchedError(options.patched.isStrategic ? error.strategicMessage : error.message);
    }
    if (options.applied !== undefined) throw unconvertible(kind, options.applied, error.message);
    throw undecodable(kind, error.message);
  }
  const errors = [
    ...(options.patched?.errors ?? []),
    ...(options.duplicates ?? []),
    ...decoded.unknown.map((field) => `unknown field "${field}"`),
  ];
  if (errors.length > 0 && options.fieldValidation === "Strict") {
    if (options.patched !== undefined) throw new PatchedError(`strict decoding error: ${errors.join(", ")}`);
    throw undecodable(kind, `strict decoding error: ${errors.join(", ")}`);
  }
  if (options.fieldValidation === "Warn") options.warnings.push(...errors);
  return decoded.object;
}

function unconvertible(kind: ServedKind, applied: Draft, detail: string): Error {
  const { namespace = "", name = "" } = metadataOf(applied);
  const type = `${kind.group}/${kind.version}, Kind=${kind.kind}`;
  const reason = `unable to convert unstructured object to ${type}: error decoding from json: ${detail}`;
  const message = `failed to convert new object (${namespace}/${name}; ${type}) to proper version: ${reason}`;
  return new StatusError(500, undefined, message);
}

/** Returns the error for a body that is not an object of its kind. */
export function undecodable({ kind, version }: ServedKind, detail: string): Error {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${detail}`);
}

function checkType(kind: ServedKind, value: Draft, { fieldValidation, warnings, patched }: DecodeOptions): void {
  const [apiVersion, name] = [own(value, "apiVersion"), own(value, "kind")];
  if (kind.isBuiltin) {
    if (apiVersion !== undefined && apiVersion !== "" && apiVersion !== kind.apiVersion) {
      const shown = String(name ?? kind.kind);
      const version = String(apiVersion).split("/").at(-1);
      throw badRequest(
        `${shown} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}: no kind ${
          JSON.stringify(shown)
        } ` +
          `is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
      );
    }
    if (name !== undefined && name !== "" && name !== kind.kind) {
      if (!isRegistered(kind.group, String(name))) {
        throw badRequest(
          `${name} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: no kind ${
            JSON.stringify(name)
          } is registered for version ${JSON.stringify(kind.apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
        );
      }
      const [group] = kind.group.split(".");
      throw badRequest(
        `${name} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: converting ` +
          `(${kind.version}.${name}) to (${group || "core"}.${kind.kind}): unknown conversion`,
      );
    }
    return;
  }
  if (patched !== undefined) return checkPatchedType(apiVersion, name, value);
  if (apiVersion !== kind.apiVersion) {
    const isOtherVersion = name === kind.kind && String(apiVersion).startsWith(`${kind.group}/`);
    if (isOtherVersion && fieldValidation === "Warn") {
      const other = kind.rules.ofVersion?.(String(apiVersion));
      warnings.push(...(other?.decode(value).unknown ?? allFields(value)).map((key) => `unknown field "${key}"`));
    }
    throw badRequest(
      `the API version in the data (${apiVersion ?? ""}) does not match the expected API version (${kind.apiVersion})`,
    );
  }
  const metadata = own(value, "metadata") ?? {};
  if (isObject(metadata)) return;
  throw undecodable(kind, `json: cannot unmarshal ${jsonTypeName(metadata)} into Go value of type v1.ObjectMeta`);
}

/**
 * Returns whether the server knows a kind, including kinds that it does not serve, such as the
 * options of a request.
 */
export function isRegistered(group: string, kind: string): boolean {
  return /(?:List|Options)$/.test(kind) || resources.some((each) => each.group === group && each.kind === kind);
}

/**
 * Checks that a patch has not removed the version or kind. If it changed them, the rules of the
 * kind reject the object later.
 */
function checkPatchedType(apiVersion: unknown, name: unknown, value: Draft): void {
  if (!name) throw new PatchedError(`Object 'Kind' is missing in '${goJson(value)}'`);
  if (!apiVersion) throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

/** Returns all fields of an object, since all are unknown if its version is not served. */
function allFields(value: Draft): string[] {
  const known = new Set(["apiVersion", "kind", "metadata"]);
  return Object.keys(value).filter((key) => !known.has(key)).sort();
}
