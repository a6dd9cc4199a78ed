/** Whose a kind's status is, and what it can say. */
import type { AnyKind, DefinitionVersion } from "./kind.ts";

/**
 * Whether a kind's status is ours to write: the kind is one of our own, and has a status.
 *
 * @param kind The kind.
 */
export function ownsStatus(kind: AnyKind): boolean {
  return versionOf(kind)?.subresources?.status !== undefined;
}

/**
 * Whether an API server keeps a property of a kind's status, or forgets it.
 *
 * @param kind The kind, one of our own.
 * @param name The property.
 */
export function keepsInStatus(kind: AnyKind, name: string): boolean {
  const { properties = {}, "x-kubernetes-preserve-unknown-fields": keepsAll = false } =
    versionOf(kind)?.schema.openAPIV3Schema ?? {};
  const { status } = properties;
  if (status === undefined) return keepsAll;
  return status["x-kubernetes-preserve-unknown-fields"] === true || Object.hasOwn(status.properties ?? {}, name);
}

function versionOf({ version, crd }: AnyKind): DefinitionVersion | undefined {
  return crd?.spec.versions.find(({ name }) => name === version);
}
