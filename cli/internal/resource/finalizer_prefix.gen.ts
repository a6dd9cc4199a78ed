// Made by tools/cli_internal.ts from src/resource/finalizer_prefix.ts: do not edit.
import type { AnyKind } from "@op/sdk/resource";

export function storedDomain(operator: string, { group }: Pick<AnyKind, "group">): string {
  return !group.includes(".") || group.endsWith(".k8s.io") ? `${operator}.op` : group;
}

export function finalizerPrefix(operator: string, kind: Pick<AnyKind, "group">): string {
  return `${storedDomain(operator, kind)}/${operator}.`;
}
