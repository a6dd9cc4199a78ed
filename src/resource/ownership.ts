/** Determines which kinds belong to the operator, and which fields their status can store. */
import type { AnyKind, DefinitionVersion } from "./kind.ts";
import type { JsonSchema } from "../schema/json_schema.ts";

/**
 * Returns whether the operator defines the kind: `resource()` declared it, and not as `external`.
 * Built-in kinds and external kinds belong to others.
 *
 * @param kind The kind.
 */
export function isOwnKind(kind: AnyKind): boolean {
  return kind.crd !== undefined && kind.external !== true;
}

/**
 * Returns whether the operator defines the kind and the kind has a status subresource. The status
 * then belongs to the operator, and contains the SDK's conditions.
 *
 * @param kind The kind.
 */
export function ownsStatus(kind: AnyKind): boolean {
  return isOwnKind(kind) && hasStatus(kind);
}

/**
 * Returns whether the CustomResourceDefinition of a kind has a status subresource. Built-in kinds
 * have no such definition.
 *
 * @param kind The kind.
 */
export function hasStatus(kind: AnyKind): boolean {
  return versionOf(kind)?.subresources?.status !== undefined;
}

/**
 * Returns whether an API server stores a property of a custom resource's status, or prunes it.
 *
 * @param kind The kind, declared with `resource()`.
 * @param name The property.
 */
export function keepsInStatus(kind: AnyKind, name: string): boolean {
  const root = versionOf(kind)?.schema.openAPIV3Schema ?? {};
  const { status } = root.properties ?? {};
  return status === undefined ? keepsUnknown(root) : keeps(status, name);
}

/**
 * Returns whether an API server stores a property of a custom resource's conditions, or prunes it.
 *
 * @param kind The kind, declared with `resource()`.
 * @param name The property, such as `observedGeneration`.
 */
export function keepsInConditions(kind: AnyKind, name: string): boolean {
  const root = versionOf(kind)?.schema.openAPIV3Schema ?? {};
  const { status } = root.properties ?? {};
  if (status === undefined) return keepsUnknown(root);
  const items = status.properties?.conditions?.items;
  return items === undefined ? keepsUnknown(status) : keeps(items, name);
}

function keeps(schema: JsonSchema, name: string): boolean {
  return keepsUnknown(schema) || Object.hasOwn(schema.properties ?? {}, name);
}

function keepsUnknown(schema: JsonSchema): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true;
}

function versionOf({ version, crd }: AnyKind): DefinitionVersion | undefined {
  return crd?.spec.versions.find(({ name }) => name === version);
}
