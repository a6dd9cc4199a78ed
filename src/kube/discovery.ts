/** Kinds by the names that people say. */
import type { Kind, KubeObject } from "../resource/kind.ts";
import type { Client } from "./client.ts";

/** A kind found by name. Its objects are plain. */
export type UntypedKind = Kind<KubeObject & { readonly [key: string]: unknown }, { readonly [key: string]: unknown }>;

interface DiscoveryList {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
        readonly scope: "Namespaced" | "Cluster";
        readonly singularResource?: string;
        readonly shortNames?: readonly string[];
      }[];
    }[];
  }[];
}

// Aggregated discovery, KEP-3352: everything in two answers.
const ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/**
 * Finds a kind as the cluster names it: by kind, plural, singular or short name, alone (`deploy`) or with the group and the version behind it
 * (`websites.demo.example.com`, `deployments.v1.apps`). Without a version it is the one that the cluster prefers.
 *
 * @param client Asks the cluster.
 * @param name The name.
 * @returns The kind as the cluster serves it; what its objects hold is unknown to the compiler.
 * @throws {Error} If the cluster has no such kind (the error's `code` is `"KindNotServed"`), or several groups have one.
 * @throws {ApiError} If the cluster does not tell what it serves.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { findKind } from "@op/sdk/client";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * const { kind, apiVersion, namespaced } = await findKind(cluster.client, "deploy");
 * assert.deepEqual([kind, apiVersion, namespaced], ["Deployment", "apps/v1", true]);
 * ```
 */
export async function findKind(client: Client, name: string): Promise<UntypedKind> {
  const [core, groups] = await Promise.all([
    client.raw<DiscoveryList>("/api", { accept: ACCEPT }),
    client.raw<DiscoveryList>("/apis", { accept: ACCEPT }),
  ]);
  const found = new Map<string, UntypedKind>();
  for (const group of [...core.items, ...groups.items]) {
    // The first version that has it is the preferred one.
    for (const kind of group.versions.flatMap((version) => kindsOf(group.metadata?.name ?? "", version))) {
      if (answersTo(kind, name.toLowerCase()) && !found.has(kind.group)) found.set(kind.group, kind);
    }
  }
  const [first, ...others] = found.values();
  if (first === undefined) {
    throw Object.assign(
      new Error(
        `Cannot find a kind "${name}": the cluster serves none by that name: is its CustomResourceDefinition installed?`,
      ),
      { code: "KindNotServed" },
    );
  }
  // The core group goes first, as with kubectl: "events" are the core group's.
  if (others.length > 0 && first.group !== "") {
    const choices = [first, ...others].map((kind) => `${kind.plural}.${kind.group}`).join(", ");
    throw new Error(`Cannot tell which kind "${name}" is: say one of ${choices}`);
  }
  return first;
}

type Version = DiscoveryList["items"][number]["versions"][number];

/** The server leaves group and version of `responseKind` empty where they are those of the list. */
function kindsOf(group: string, { version, resources = [] }: Version): UntypedKind[] {
  return resources.map(({ resource, responseKind, scope, singularResource, shortNames }) => ({
    group,
    version,
    kind: responseKind.kind,
    apiVersion: group === "" ? version : `${group}/${version}`,
    plural: resource,
    singular: singularResource ?? "",
    listKind: `${responseKind.kind}List`,
    shortNames: shortNames ?? [],
    namespaced: scope === "Namespaced",
  }));
}

function answersTo(kind: UntypedKind, name: string): boolean {
  return [kind.kind.toLowerCase(), kind.plural, kind.singular, ...kind.shortNames].some((own) =>
    own !== "" && [own, `${own}.${kind.group}`, `${own}.${kind.version}.${kind.group}`].includes(name)
  );
}
