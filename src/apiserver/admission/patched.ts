/**
 * Decodes the objects that webhooks have patched
 * (`k8s.io/apiserver/pkg/admission/plugin/webhook/mutating`, callAttrMutatingHook).
 */
import { own } from "../../base/own.ts";
import { goJson } from "../../schema/go_text.ts";
import { DecodeError } from "../objects/decode.ts";
import { isRegistered } from "../objects/decode_body.ts";
import type { ServedKind } from "../objects/kinds.ts";
import type { Draft, StoredObject } from "../objects/objects.ts";
import { internalError, StatusError } from "../wire/status_error.ts";

/**
 * Decodes a patched object: drops unknown fields, and sets defaults.
 *
 * @param kind The kind in which the webhook received the object.
 * @param patched The object.
 * @throws {StatusError} If the patch changed the kind of the object, or the object cannot be
 * decoded.
 */
export function decodePatchedObject(kind: ServedKind, patched: Draft): StoredObject {
  const [apiVersion, name] = [own(patched, "apiVersion"), own(patched, "kind")];
  if (!kind.isBuiltin && !name) throw internalError(`Object 'Kind' is missing in '${goJson(patched)}'`);
  if (!kind.isBuiltin && apiVersion !== kind.apiVersion) {
    const [version = "", group = ""] = String(apiVersion ?? "").split("/").reverse();
    const reason = `${group}/${version}, Kind=${name} is unstructured and is not suitable for converting to`;
    throw new StatusError(500, undefined, `${reason} ${JSON.stringify(kind.apiVersion)}`);
  }
  if (kind.isBuiltin) checkBuiltinType(kind, apiVersion || kind.apiVersion, name || kind.kind);
  const whole = kind.isBuiltin ? { ...patched, apiVersion: kind.apiVersion, kind: kind.kind } : patched;
  try {
    return kind.rules.decode(whole).object as unknown as StoredObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw internalError(error.message);
  }
}

function checkBuiltinType(kind: ServedKind, apiVersion: unknown, name: unknown): void {
  if (apiVersion === kind.apiVersion && name === kind.kind) return;
  if (apiVersion !== kind.apiVersion || !isRegistered(kind.group, String(name))) {
    const where = `for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
    throw internalError(`no kind ${JSON.stringify(name)} is registered ${where}`);
  }
  const [group] = kind.group.split(".");
  const reason = `converting (${kind.version}.${name}) to (${group || "core"}.${kind.kind}): unknown conversion`;
  throw new StatusError(500, undefined, reason);
}
