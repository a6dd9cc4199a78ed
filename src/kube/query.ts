/** What requests say behind the question mark. */
import type { SelectOptions, WriteOptions } from "./calls.ts";

/** Which objects are asked for. */
export function select(options: SelectOptions): URLSearchParams {
  const query = new URLSearchParams();
  if (options.labelSelector) query.set("labelSelector", options.labelSelector);
  if (options.fieldSelector) query.set("fieldSelector", options.fieldSelector);
  return query;
}

/** How a write is to be done, with its question mark. Joined by hand: a URLSearchParams costs as much as the rest of what we do for a request. */
export function queryOf({ manager, dryRun, fieldValidation }: WriteOptions, force = false): string {
  const parts: string[] = [];
  if (force) parts.push("force=true");
  if (manager !== undefined) parts.push(`fieldManager=${encodeURIComponent(manager)}`);
  if (dryRun) parts.push("dryRun=All");
  if (fieldValidation !== undefined) parts.push(`fieldValidation=${fieldValidation}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
