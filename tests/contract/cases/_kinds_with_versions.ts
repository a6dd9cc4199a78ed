/** Kinds with several versions, and their objects. */
import { definition } from "../definition.ts";
import type { Recorder } from "../recorder.ts";

export const GROUP = "fruit.example.com";
export const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
export const MERGE = { contentType: "application/merge-patch+json" };

export type Fields = Readonly<Record<string, unknown>>;

export function schema(spec: Fields, status: Fields = {}): { openAPIV3Schema: unknown } {
  return {
    openAPIV3Schema: {
      type: "object",
      properties: { spec: { type: "object", properties: spec }, status: { type: "object", properties: status } },
    },
  };
}

export const TEXT = { type: "string" };
export const COUNT = { type: "integer" };

/** Returns a definition with the given versions. By default, the first one is stored. */
export function versionedDefinition(
  kind: string,
  plural: string,
  versions: readonly Fields[],
): ReturnType<typeof definition> {
  const made = definition(kind, plural);
  const named = versions.map((version, i) => ({
    name: `v${i + 1}`,
    served: true,
    storage: i === 0,
    schema: schema({ size: COUNT }),
    ...version,
  }));
  return { ...made, spec: { ...made.spec, versions: named } };
}

export function collectionPath(api: Recorder, plural: string, version = "v1"): string {
  return `/apis/${GROUP}/${version}/namespaces/${api.namespace}/${plural}`;
}

export function fruit(kind: string, name: string, spec: unknown, version = "v1"): Fields {
  return { apiVersion: `${GROUP}/${version}`, kind, metadata: { name }, spec };
}

/** Waits until requests to a path of each version get a status. */
export async function untilVersions(
  api: Recorder,
  plural: string,
  statuses: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [version, status] of Object.entries(statuses)) {
    await api.untilStatus(collectionPath(api, plural, version), status);
  }
}
