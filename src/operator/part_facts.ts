/** Facts about the parts of an operator, for the command line. */
import type { CustomResourceDefinitionManifest } from "../resource/kind.ts";
import { isOwnKind } from "../resource/ownership.ts";
import { externalCrdsOf, reconciledDefinitions } from "../manifests/crds.ts";
import { compile, type Parts } from "../parts/part_types.ts";

/** Facts about the parts of an operator, as plain data. */
export interface PartFacts {
  /** The definitions of its external kinds, as it declares them. */
  readonly externalCrds: readonly CustomResourceDefinitionManifest[];
  /** The keys of its controllers. */
  readonly controllers: readonly string[];
  /** The kinds that its controllers reconcile. */
  readonly controlled: readonly { readonly group: string; readonly kind: string }[];
  /** The names of the definitions among the kinds that its controllers reconcile. */
  readonly reconciled: readonly string[];
  /** Finalizers with explicit names; other finalizers begin with the operator's name. */
  readonly finalizers: readonly string[];
  /** Kinds of other owners on whose objects its controllers put finalizers. */
  readonly foreignFinalized: readonly { readonly apiVersion: string; readonly kind: string }[];
}

/**
 * Returns facts about parts.
 *
 * @param parts The parts.
 */
export function factsOf(parts: Parts): PartFacts {
  const { controllers } = compile(parts);
  const list = [...controllers.values()];
  return {
    externalCrds: externalCrdsOf(Object.values(parts)),
    controllers: [...controllers.keys()],
    controlled: list.map(({ kind: { group, kind } }) => ({ group, kind })),
    reconciled: reconciledDefinitions(parts),
    finalizers: list.flatMap(({ finalizer }) => finalizer ?? []),
    foreignFinalized: list.filter(({ kind, cleanup }) => cleanup !== undefined && !isOwnKind(kind))
      .map(({ kind: { apiVersion, kind } }) => ({ apiVersion, kind })),
  };
}
