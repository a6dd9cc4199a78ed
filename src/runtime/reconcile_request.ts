/**
 * Reads the reconcile requests that user functions return. They are validated, because user code
 * may not be type-checked.
 */
import { maskSecrets } from "../base/mask_secrets.ts";
import type { ReconcileRequest } from "../parts/watch.ts";
import type { AnyKind } from "../resource/kind.ts";

/** Name and namespace of an object that is requested. */
export interface RequestedObject {
  readonly name: string;
  readonly namespace: string | undefined;
}

/**
 * Returns requests as a list, without `undefined` and `null`.
 *
 * @param requests One request, several, or none.
 */
export function requestList(
  requests: ReconcileRequest | readonly ReconcileRequest[] | undefined,
): readonly ReconcileRequest[] {
  const list: readonly (ReconcileRequest | undefined | null)[] = Array.isArray(requests) ? requests : [requests];
  return list.filter((request) => request !== undefined && request !== null);
}

/**
 * Returns the object that a request names.
 *
 * @param kind The object's kind.
 * @param request The request.
 * @param namespace The namespace if the request has none.
 * @returns The object, or `undefined` if the name is empty, as in an optional field without a
 * value.
 * @throws {TypeError} If the value is not a request, or the namespace is unknown.
 */
export function requestedObject(
  kind: AnyKind,
  request: ReconcileRequest,
  namespace: string | undefined,
): RequestedObject | undefined {
  const fields: unknown = Object(Object(request).metadata ?? request);
  const named = typeof request === "string" ? { name: request } : fields as Partial<RequestedObject>;
  const { name, namespace: own = namespace } = named as Partial<RequestedObject>;
  if (name === undefined || name === "") {
    if (typeof request === "string" || Object.hasOwn(fields as object, "name")) return undefined;
    throw new TypeError(
      `Cannot reconcile a ${kind.kind}: ${
        Deno.inspect(maskSecrets(request))
      } is not a request. Return a name, { name, namespace } or the object`,
    );
  }
  if (!kind.namespaced) return { name, namespace: undefined };
  if (own !== undefined) return { name, namespace: own };
  throw new TypeError(`Cannot reconcile ${kind.kind} "${name}": its namespace is unknown. Return { name, namespace }`);
}
