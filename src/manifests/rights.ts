/** The rights of an operator in a cluster: a line each verb on each resource, as the runtime sends it, and which declaration asks for it. */
import type { Part } from "../parts/controller.ts";
import type { AnyKind } from "../resource/kind.ts";
import { ownsStatus } from "../resource/owns_status.ts";

/**
 * Where a right is needed: in the namespaces that the operator looks at, in the whole cluster (kinds that are cluster-wide), or in the namespace that
 * the operator itself is in.
 */
export type RightScope = "watched" | "cluster" | "own";

/** One right: one verb on one resource, and why. */
export interface Right {
  /** API group; empty for the core group. */
  readonly group: string;
  /** The plural name, with a subresource behind a slash where there is one: `websites`, `websites/status`. */
  readonly resource: string;
  readonly verb: string;
  /** The only objects that it is about, by name; empty for all. */
  readonly names: readonly string[];
  readonly scope: RightScope;
  /** The key of the part that declares it; absent where the operator itself needs it. */
  readonly part?: string;
  /** What it is for, as a clause: `watches its own kind Website`. */
  readonly reason: string;
}

/** What the rights depend on, beside the parts. */
export interface RightsOptions {
  /** The Lease by which its processes agree on the one that works; absent where there is no election. */
  readonly lease?: { readonly name: string } | undefined;
  /** Whether its runs report Kubernetes Events. @default {false} */
  readonly events?: boolean;
}

/**
 * The rights of an operator: what its runtime really sends, and nothing else.
 *
 * @param parts The operator's parts, by key.
 * @param options What they depend on beside.
 * @returns Each right once for each part that needs it, in the order of the parts.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(rightsOf({}, { lease: { name: "shop" } }).map(({ verb, resource }) => `${verb} ${resource}`), [
 *   "create leases",
 *   "get leases",
 *   "patch leases",
 * ]);
 * ```
 */
export function rightsOf(parts: Readonly<Record<string, Part>>, options: RightsOptions = {}): Right[] {
  const { lease, events = false } = options;
  return [
    ...Object.entries(parts).flatMap(([key, part]) => rightsOfPart(key, part)),
    ...(events ? ["create", "patch"].map(eventRight) : []),
    ...(lease === undefined ? [] : leaseRights(lease.name)),
  ];
}

function rightsOfPart(part: string, { kind, owns, reads, uses, cleanup }: Part): Right[] {
  const its = (of: AnyKind, verb: string, reason: string, subresource?: string): Right => ({
    group: of.group,
    resource: subresource === undefined ? of.plural : `${of.plural}/${subresource}`,
    verb,
    names: [],
    scope: of.namespaced ? "watched" : "cluster",
    part,
    reason,
  });
  const watched = (of: AnyKind, reason: string) => ["list", "watch"].map((verb) => its(of, verb, reason));
  return unique([
    ...watched(kind, `watches its own kind ${kind.kind}`),
    ...finalizerRights(),
    ...(ownsStatus(kind) ? [its(kind, "patch", `writes the status of ${kind.kind}`, "status")] : []),
    ...(owns.length === 0 ? [] : [
      // Asked for where the cluster checks who may block the deletion of an owner (OwnerReferencesPermissionEnforcement).
      its(kind, "update", `makes ${kind.kind} the owner of what it applies`, "finalizers"),
    ]),
    ...owns.flatMap((of) => [
      ...watched(of, `owns ${of.kind}: watches it`),
      ...["create", "patch"].map((verb) => its(of, verb, `owns ${of.kind}: applies it`)),
    ]),
    ...reads.flatMap((of) => watched(of, `reads ${of.kind}`)),
    ...uses.flatMap((access) => access.verbs.map((verb) => its(access.kind, verb, usesReason(access.kind, verb)))),
  ]);

  /**
   * A finalizer of an earlier version is taken off kinds of one's own, that they are not stranded. Kinds of others are not patched for that: who only
   * watches Namespaces may not change them.
   */
  function finalizerRights(): Right[] {
    if (cleanup !== undefined) return [its(kind, "patch", `puts its finalizer on ${kind.kind} and takes it off`)];
    if (kind.crd === undefined) return [];
    return [its(kind, "patch", `takes a finalizer off ${kind.kind} that an earlier version with a cleanup left`)];
  }
}

function usesReason({ kind }: AnyKind, verb: string): string {
  return `uses ${kind}: access(${kind}, "${verb}")`;
}

/** One that says the same again is patched: its series goes on. */
function eventRight(verb: string): Right {
  return { group: "events.k8s.io", resource: "events", verb, names: [], scope: "watched", reason: "reports Events" };
}

function leaseRights(name: string): Right[] {
  const lease = {
    group: "coordination.k8s.io",
    resource: "leases",
    scope: "own",
    reason: "elects its leader",
  } as const;
  // A name that is not there yet cannot be what a right to create is bound to.
  return [
    { ...lease, verb: "create", names: [] },
    { ...lease, verb: "get", names: [name] },
    { ...lease, verb: "patch", names: [name] },
  ];
}

function unique(rights: readonly Right[]): Right[] {
  const seen = new Map<string, Right>();
  for (const right of rights) {
    const key = `${right.group} ${right.resource} ${right.verb}`;
    if (!seen.has(key)) seen.set(key, right);
  }
  return [...seen.values()];
}
