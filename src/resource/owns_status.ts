/** Whose a kind's status is. */
import type { AnyKind } from "./kind.ts";

/**
 * Whether a kind's status is ours to write: the kind is one of our own, and has a status.
 *
 * @param kind The kind.
 */
export function ownsStatus(kind: AnyKind): boolean {
  return kind.crd?.spec.versions.some((version) => version.name === kind.version && version.subresources?.status) ??
    false;
}
