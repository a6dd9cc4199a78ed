/** Finds kinds by their names, as kubectl does. */
import type { Kind, KubeObject } from "../resource/kind.ts";
import type { Client } from "./client.ts";

/** A kind that was found by name. Its objects have no compile-time type. */
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

// Aggregated discovery (KEP-3352) returns all kinds in two responses.
const ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/**
 * A name matches no kind of the cluster, or more than one.
 *
 * @example Usage
 * ```ts
 * import assert from "node:assert/strict";
 * import { findKind, KindNotFoundError } from "@op/sdk/client";
 * import { memoryCluster } from "@op/sdk/testing";
 *
 * await using cluster = await memoryCluster();
 * const error = await findKind(cluster.client, "gadgets").catch((error) => error);
 * assert(error instanceof KindNotFoundError && error.code === "KindNotServed");
 * ```
 */
export class KindNotFoundError extends Error {
  /** Always `KindNotFoundError`. */
  override name = "KindNotFoundError";
  /** Whether there is no such kind, or more than one. */
  readonly code: "KindNotServed" | "AmbiguousKind";

  /**
   * Creates the error.
   *
   * @param code Whether there is no such kind, or more than one.
   * @param message The message.
   */
  constructor(code: "KindNotServed" | "AmbiguousKind", message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Finds a kind by its kind, plural, singular or short name. The name can have the version and the
 * group as a suffix (`websites.demo.example.com`, `deployments.v1.apps`). Without a version, the
 * cluster's preferred version is used.
 *
 * @param client Sends the requests.
 * @param name The name.
 * @returns The kind. Its objects have no compile-time type.
 * @throws {KindNotFoundError} If the cluster does not serve the kind (`code` is `KindNotServed`),
 * or several groups have a kind with the name (`AmbiguousKind`).
 * @throws {ApiError} If the cluster does not list its kinds.
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
    // Versions are sorted by preference.
    for (const kind of group.versions.flatMap((version) => kindsOf(group.metadata?.name ?? "", version))) {
      if (hasName(kind, name.toLowerCase()) && !found.has(kind.group)) found.set(kind.group, kind);
    }
  }
  const [first, ...others] = found.values();
  if (first === undefined) {
    throw new KindNotFoundError(
      "KindNotServed",
      `Cannot find kind "${name}": the cluster does not serve it. Check that its CustomResourceDefinition is installed`,
    );
  }
  // The core group has precedence, as in kubectl: "events" are those of the core group.
  if (others.length > 0 && first.group !== "") {
    const choices = [first, ...others].map((kind) => `${kind.plural}.${kind.group}`).join(", ");
    throw new KindNotFoundError(
      "AmbiguousKind",
      `Cannot find kind "${name}": several groups have it. Use one of ${choices}`,
    );
  }
  return first;
}

type Version = DiscoveryList["items"][number]["versions"][number];

/**
 * Returns the kinds of a version. The group and version of `responseKind` are empty if they are the
 * same as the list's.
 */
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

function hasName(kind: UntypedKind, name: string): boolean {
  return [kind.kind.toLowerCase(), kind.plural, kind.singular, ...kind.shortNames].some((own) =>
    own !== "" && [own, `${own}.${kind.group}`, `${own}.${kind.version}.${kind.group}`].includes(name)
  );
}
