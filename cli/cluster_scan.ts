/** Reads the metadata of all objects in a cluster, of all kinds. */
import { type AnyKind, ApiError, type KubeObject } from "@op/sdk";
import type { Cluster } from "./cluster.ts";

/** The metadata of an object, and its kind as the cluster serves it. */
export interface ScannedObject {
  readonly kind: AnyKind;
  readonly object: KubeObject;
}

/** The result of a scan. */
export interface Scan {
  readonly objects: readonly ScannedObject[];
  /** Kinds whose objects could not be read, with the reasons. */
  readonly unread: readonly { readonly kind: AnyKind; readonly reason: string }[];
}

interface Discovery {
  readonly items: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly responseKind: { readonly kind: string };
        readonly scope: "Namespaced" | "Cluster";
        readonly verbs?: readonly string[];
      }[];
    }[];
  }[];
}

const ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The number of concurrent list requests. A scan must not slow down the API server. */
const CONCURRENCY = 8;

/**
 * Returns the kinds that the garbage collector handles: those that can be listed and deleted, each
 * in the version that the cluster prefers.
 *
 * @param cluster The cluster.
 */
export async function collectableKinds({ client }: Cluster): Promise<AnyKind[]> {
  const [core, groups] = await Promise.all([
    client.raw<Discovery>("/api", { accept: ACCEPT }),
    client.raw<Discovery>("/apis", { accept: ACCEPT }),
  ]);
  const kinds = new Map<string, AnyKind>();
  for (const { metadata, versions } of [...core.items, ...groups.items]) {
    const group = metadata?.name ?? "";
    for (const { version, resources = [] } of versions) {
      for (const { resource, responseKind: { kind }, scope, verbs = [] } of resources) {
        // The first version of a group is the preferred one.
        if (!verbs.includes("list") || !verbs.includes("delete") || kinds.has(`${resource}.${group}`)) continue;
        kinds.set(`${resource}.${group}`, {
          group,
          version,
          kind,
          apiVersion: group === "" ? version : `${group}/${version}`,
          plural: resource,
          singular: "",
          listKind: `${kind}List`,
          shortNames: [],
          namespaced: scope === "Namespaced",
        } as AnyKind);
      }
    }
  }
  return [...kinds.values()];
}

/**
 * Returns the objects of some kinds that match. Kinds that cannot be read are part of the result,
 * because one broken API service must not hide the rest.
 *
 * @param cluster The cluster.
 * @param kinds The kinds.
 * @param matches Decides by an object's metadata and kind.
 * @param namespace The namespace to read. @default {all}
 */
export async function scan(
  cluster: Cluster,
  kinds: readonly AnyKind[],
  matches: (object: KubeObject, kind: AnyKind) => boolean,
  namespace?: string,
): Promise<Scan> {
  const options = { metadataOnly: true, ...(namespace === undefined ? {} : { namespace }) } as const;
  const objects: ScannedObject[] = [];
  const unread: { kind: AnyKind; reason: string }[] = [];
  const queue = kinds.values();
  const worker = async (): Promise<void> => {
    for (const kind of queue) {
      try {
        const all: KubeObject[] = await cluster.client.list(kind, options);
        objects.push(...all.filter((object) => matches(object, kind)).map((object) => ({ kind, object })));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // The kind was deleted during the scan.
        if (error.status !== 404) unread.push({ kind, reason: error.message });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return { objects, unread };
}
