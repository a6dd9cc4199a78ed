/** Objects of which the metadata alone is asked for (`PartialObjectMetadata` of `k8s.io/apimachinery/pkg/apis/meta/v1`). */
import type { AnyKind } from "../resource/kind.ts";
import type { SelectOptions, WatchEvent } from "./calls.ts";

/** Asks for an object's metadata alone, where that is wanted. */
export function accepting(
  { signal, metadataOnly }: SelectOptions,
  as: string,
): { signal?: AbortSignal; accept?: string } {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(metadataOnly ? { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` } : {}),
  };
}

/** What is metadata alone says so in place of its kind. */
export function named(kind: AnyKind, event: WatchEvent): WatchEvent {
  if (event.type === "ERROR" || event.type === "BOOKMARK") return event;
  return { ...event, object: { ...event.object, apiVersion: kind.apiVersion, kind: kind.kind } };
}
