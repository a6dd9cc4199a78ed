/** Query parameters and headers of requests. */
import type { SelectOptions, WriteOptions } from "./calls.ts";

/** Returns the query parameters that select objects. */
export function select(options: SelectOptions): URLSearchParams {
  const query = new URLSearchParams();
  if (options.labelSelector) query.set("labelSelector", options.labelSelector);
  if (options.fieldSelector) query.set("fieldSelector", options.fieldSelector);
  return query;
}

/**
 * Returns the query string of a write, including the question mark. It does not use
 * URLSearchParams, which takes as much CPU time as the rest of the client does for a request.
 */
export function writeQuery({ manager, dryRun, fieldValidation }: WriteOptions, force = false): string {
  const parts: string[] = [];
  if (force) parts.push("force=true");
  if (manager !== undefined) parts.push(`fieldManager=${encodeURIComponent(manager)}`);
  if (dryRun) parts.push("dryRun=All");
  if (fieldValidation !== undefined) parts.push(`fieldValidation=${fieldValidation}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

/**
 * Returns the signal of a call, and the `accept` header if only metadata is requested.
 *
 * @param options Options of the call.
 * @param as `PartialObjectMetadata`, or its list (`k8s.io/apimachinery/pkg/apis/meta/v1`).
 */
export function metadataOnly(options: SelectOptions, as: string): { signal?: AbortSignal; accept?: string } {
  return {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.metadataOnly ? { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` } : {}),
  };
}
