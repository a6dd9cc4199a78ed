/**
 * Finds kinds for which the deployed version of an operator has a controller and the new version
 * has none. Finalizers on their objects would block the deletion of the objects. The kinds are read
 * from the operator's roles, because each controller needs the permission to patch its kind.
 */
import type { AnyKind } from "@op/sdk";
import { NAME_LABEL } from "../internal/mod.gen.ts";
import { ClusterRole, Role } from "@op/sdk/kinds";
import { type Cluster, ifReadable } from "../cluster.ts";
import { collectableKinds } from "../cluster_scan.ts";
import type { Io } from "../io.ts";
import { type PlainObject, shown } from "../objects.ts";
import { counted } from "../plural.ts";
import { type FinalizerOwner, foreignFinalizedObjects, release } from "./foreign_finalizers.ts";

/** The maximum number of objects that a message names. */
const MAX_NAMED = 5;

type Rules = { readonly [field: string]: unknown } | Pick<ClusterRole | Role, "rules">;

/** Finalizers that the new version of an operator does not remove. */
export class DroppedKinds {
  readonly #cluster: Cluster;
  readonly #kinds: ReadonlyMap<string, readonly AnyKind[]>;

  private constructor(cluster: Cluster, kinds: ReadonlyMap<string, readonly AnyKind[]>) {
    this.#cluster = cluster;
    this.#kinds = kinds;
  }

  /**
   * Compares the roles in the cluster with those to apply. Call it before they are applied.
   *
   * @param cluster The cluster.
   * @param objects The objects to apply.
   * @param all Whether to include all kinds that the new version has no permission to patch, and
   *   not only those that the deployed version may patch.
   */
  static async of(cluster: Cluster, objects: readonly PlainObject[], all: boolean): Promise<DroppedKinds> {
    const kinds = new Map<string, readonly AnyKind[]>();
    const operators = objects.filter(({ kind, metadata: { name, labels } }) =>
      kind === "ServiceAccount" && labels?.[NAME_LABEL] === name
    );
    for (const { metadata: { name } } of operators) {
      const roles = objects.filter(({ kind, metadata }) =>
        (kind === "ClusterRole" || kind === "Role") && metadata.name === name
      );
      const after = new Set(roles.flatMap(patchableResources));
      const before = new Set((await deployedRoles(cluster, name, roles)).flatMap(patchableResources));
      const isDropped = (kind: AnyKind) => {
        const resource = `${kind.plural}.${kind.group}`;
        return !after.has(resource) && (all || before.has(resource));
      };
      if (!all && [...before].every((resource) => after.has(resource))) continue;
      kinds.set(name, (await collectableKinds(cluster)).filter(isDropped));
    }
    return new DroppedKinds(cluster, kinds);
  }

  /**
   * Removes the finalizers of dropped controllers, or prints a warning about them.
   *
   * @param isReleased Whether to remove them.
   * @param io The terminal.
   */
  async settle(isReleased: boolean, io: Io): Promise<void> {
    for (const [name, kinds] of this.#kinds) {
      const operator: FinalizerOwner = { name, finalizers: [], foreignFinalized: [], reconciled: [], crds: [] };
      const finalized = await foreignFinalizedObjects(this.#cluster, operator, kinds);
      if (finalized.length === 0) continue;
      if (isReleased) {
        for (const one of finalized) {
          if (await release(this.#cluster, one, operator)) io.out(`released   ${shown(one.object)}\n`);
        }
        continue;
      }
      const some = finalized.slice(0, MAX_NAMED).map(({ object }) => shown(object)).join(", ");
      const more = finalized.length > MAX_NAMED ? ` and ${finalized.length - MAX_NAMED} more` : "";
      io.err(
        `Warning: ${
          counted(finalized.length, "object has", "objects have")
        } finalizers of controllers that this version of "${name}" no longer has ` +
          `(${some}${more}), so they cannot be deleted. To remove the finalizers without a cleanup, deploy with --release-finalizers.\n`,
      );
    }
  }
}

/** Returns the resources that a role allows to patch: `websites.demo.example.com`. */
function patchableResources(role: Rules): string[] {
  const { rules = [] } = role as Pick<ClusterRole, "rules">;
  return rules.filter(({ verbs = [] }) => verbs.includes("patch")).flatMap(({ apiGroups = [], resources = [] }) =>
    apiGroups.flatMap((group) => resources.map((resource) => `${resource}.${group}`))
  );
}

async function deployedRoles(cluster: Cluster, name: string, roles: readonly PlainObject[]): Promise<Rules[]> {
  const namespaces = roles.flatMap(({ kind, metadata: { namespace } }) =>
    kind === "Role" && namespace !== undefined ? [namespace] : []
  );
  const found = await Promise.all([
    ifReadable(() => cluster.client.get(ClusterRole, name)),
    ...namespaces.map((namespace) => ifReadable(() => cluster.client.get(Role, name, { namespace }))),
  ]);
  return found.flatMap((one) => one ?? []);
}
