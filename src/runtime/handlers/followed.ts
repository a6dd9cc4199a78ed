/** The parts of objects that handlers follow. */
import { isObject } from "../../base/json.ts";
import { type Path, valueAt, withValueAt } from "../../handlers/path.ts";

// Annotations of kubectl, kopf and this SDK. Their changes are no changes of the object.
const SYSTEM_ANNOTATION =
  /^kubectl\.kubernetes\.io\/last-applied-configuration$|^kopf\.(?:zalando\.org|dev)\/|\.handler-state$|\/(?:paused|retry)$/;

/**
 * Returns what handlers follow of an object: its spec and other fields, its labels and annotations,
 * and the fields of its status and other metadata that a handler names.
 *
 * @param object The object.
 * @param named The paths that handlers name.
 * @param ignored The paths whose changes call no handler.
 */
export function followedPart(
  object: object,
  named: readonly Path[],
  ignored: readonly Path[],
): Record<string, unknown> {
  const { apiVersion: _apiVersion, kind: _kind, status: _status, metadata, ...rest } = object as Record<
    string,
    unknown
  >;
  const base: unknown = { ...rest, metadata: followedMetadata(metadata) };
  const extended = named.filter(isUsuallyIgnored).reduce((part, path) => {
    const value = valueAt(object, path);
    return value === undefined ? part : withValueAt(part, path, value);
  }, base);
  return ignored.reduce((part, path) => withValueAt(part, path, undefined), extended) as Record<string, unknown>;
}

/** Returns the part that handlers of the whole object follow. */
export function withoutNamedPart({ status: _, metadata, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return { ...rest, metadata: followedMetadata(metadata) };
}

function isUsuallyIgnored([root, name]: Path): boolean {
  return root === "status" || root === "metadata" && name !== "labels" && name !== "annotations";
}

function followedMetadata(metadata: unknown): Record<string, unknown> {
  const { labels, annotations } = isObject(metadata) ? metadata : {};
  const entries = Object.entries(isObject(annotations) ? annotations : {});
  const followed = entries.filter(([name]) => !SYSTEM_ANNOTATION.test(name));
  return {
    ...(isObject(labels) && Object.keys(labels).length > 0 ? { labels } : {}),
    ...(followed.length > 0 ? { annotations: Object.fromEntries(followed) } : {}),
  };
}
