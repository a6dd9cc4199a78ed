/** Tables of built-in kinds as `kubectl get` prints them, including wide columns. */
import { area, type Case } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";
import { EXAMPLE_OBJECTS, type ExampleObjects } from "./_example_objects.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** Creates objects, writes their statuses, and reads their table. */
async function showTable(
  api: Recorder,
  { version, kind, plural, isClusterWide, objects }: ExampleObjects,
): Promise<void> {
  const root = version.includes("/") ? `/apis/${version}` : `/api/${version}`;
  const path = isClusterWide ? `${root}/${plural}` : `${root}/namespaces/${api.namespace}/${plural}`;
  const labels = { shown: api.namespace };
  for (const [i, { status, metadata, ...rest }] of objects.entries()) {
    const name = isClusterWide ? `${api.namespace}-${i}` : `o${i}`;
    const given = metadata as Record<string, Record<string, string>> | undefined;
    const object = {
      apiVersion: version,
      kind,
      metadata: { name, ...given, labels: { ...labels, ...given?.labels } },
      ...rest,
    };
    await api.quietly("POST", path, JSON.stringify(object).replaceAll("$namespace", api.namespace));
    if (status === undefined) continue;
    await api.quietly("PATCH", `${path}/${name}/status`, { status }, { contentType: "application/merge-patch+json" });
  }
  await api.get(`${path}?labelSelector=shown%3D${api.namespace}`, { accept: TABLE });
  // Cluster-scoped objects are visible to other cases.
  if (!isClusterWide) return;
  for (const i of objects.keys()) await api.quietly("DELETE", `${path}/${api.namespace}-${i}`);
}

const ofKinds: Case[] = area(
  "tables",
  Object.fromEntries(
    Object.entries(EXAMPLE_OBJECTS).map(([name, shown]) => [name, (api: Recorder) => showTable(api, shown)]),
  ),
);

/** Tables in general. */
const atLarge: Case[] = area("tables", {
  "rows contain no object, metadata or the whole object": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }));
    for (const included of ["None", "Metadata", "Object", "", "Nonsense"]) {
      await api.get(api.core(`configmaps?includeObject=${included}&fieldSelector=metadata.name%3Dc`), {
        accept: TABLE,
      });
    }
  },
  "a table of one object": async (api) => {
    await api.quietly("POST", api.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
    await api.get(api.core("secrets/s"), { accept: TABLE });
    await api.get(api.core("secrets/none"), { accept: TABLE });
  },
  "a table of a write": async (api) => {
    await api.post(api.core("configmaps"), configMap("c", { a: "1" }), { accept: TABLE });
    await api.call("PATCH", api.core("configmaps/c"), { data: { b: "2" } }, {
      accept: TABLE,
      contentType: "application/merge-patch+json",
    });
  },
  "a table in pages": async (api) => {
    for (const name of ["a", "b", "c"]) {
      await api.quietly("POST", api.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name } });
    }
    const { body } = await api.get(api.core("secrets?limit=2"), { accept: TABLE });
    await api.get(api.core(`secrets?limit=2&continue=${encodeURIComponent(body.metadata.continue)}`), {
      accept: TABLE,
    });
  },
  "a watch of a table": async (api) => {
    await api.quietly("POST", api.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
    await api.watch(api.core("secrets?watch=1&includeObject=None"), async (watch) => {
      await watch.take(1);
      await api.quietly("DELETE", api.core("secrets/s"));
      await watch.take(1);
    }, { accept: TABLE });
  },
  "a watch of a table of a custom kind": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", { size: 2 }));
    await api.watch(api.widgets("?watch=1"), async (watch) => {
      await watch.take(1);
      await api.quietly("DELETE", api.widgets("/w"));
      await watch.take(1);
    }, { accept: TABLE });
  },
  "an unknown version of tables": async (api) => {
    await api.quietly("POST", api.core("secrets"), { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } });
    for (
      const accept of [
        "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
        "application/json;as=Table;v=v2;g=meta.k8s.io",
        "application/json;as=Chair;v=v1;g=meta.k8s.io",
        "application/json;as=Table;v=v1;g=other",
        "application/json;as=Table",
        "text/plain",
        "application/json;as=Table;v=v2;g=meta.k8s.io,application/json",
        "*/*",
        "application/*;q=0.5, text/html",
      ]
    ) await api.get(api.core("secrets?limit=1"), { accept });
  },
  "metadata of built-in kinds": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }, { labels: { mine: "1" } }));
    const one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const many = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    await api.get(api.core("configmaps/c"), { accept: one });
    await api.get(api.core("configmaps?labelSelector=mine"), { accept: many });
    await api.get(api.core("configmaps?labelSelector=mine"), { accept: one });
    await api.get(api.core("configmaps/c"), { accept: many });
    await api.get(api.core("configmaps/c"), { accept: one.replace("v1", "v1beta1") });
  },
});

/** All cases of tables. */
export const tables: Case[] = [...ofKinds, ...atLarge];
