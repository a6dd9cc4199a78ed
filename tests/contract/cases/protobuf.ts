/** Built-in kinds in protobuf, as client-go and kubectl use it. */
import { area, type Case } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";
import { deployment, deployments } from "../workloads.ts";
import { EXAMPLE_OBJECTS, type ExampleObjects } from "./_example_objects.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const EITHER = `${PROTOBUF},application/json`;

/** Creates objects in protobuf, and reads them one by one and as a list. */
async function roundTrip(
  api: Recorder,
  { version, kind, plural, isClusterWide, objects }: ExampleObjects,
): Promise<void> {
  const root = version.includes("/") ? `/apis/${version}` : `/api/${version}`;
  const path = isClusterWide ? `${root}/${plural}` : `${root}/namespaces/${api.namespace}/${plural}`;
  const labels = { sent: api.namespace };
  const both = { accept: PROTOBUF, contentType: PROTOBUF };
  for (const [i, { status: _status, metadata, ...rest }] of objects.entries()) {
    const given = metadata as Record<string, Record<string, string>> | undefined;
    const name = `${api.namespace}-${i}`;
    const object = {
      apiVersion: version,
      kind,
      metadata: { name, ...given, labels: { ...labels, ...given?.labels } },
      ...rest,
    };
    await api.post(path, JSON.parse(JSON.stringify(object).replaceAll("$namespace", api.namespace)), both);
    const { body } = await api.get(`${path}/${name}`, { accept: PROTOBUF });
    await api.put(`${path}/${name}`, { ...body, metadata: { ...body.metadata, annotations: { seen: "yes" } } }, both);
  }
  await api.get(`${path}?labelSelector=sent%3D${api.namespace}`, { accept: PROTOBUF });
  if (!isClusterWide) return;
  for (const i of objects.keys()) await api.quietly("DELETE", `${path}/${api.namespace}-${i}`);
}

const ofKinds: Case[] = area(
  "protobuf",
  Object.fromEntries(
    Object.entries(EXAMPLE_OBJECTS).map(([name, shown]) => [name, (api: Recorder) => roundTrip(api, shown)]),
  ),
);

const atLarge: Case[] = area("protobuf", {
  "a watch": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }, { labels: { mine: "1" } }));
    await api.watch(api.core("configmaps?watch=1&labelSelector=mine"), async (watch) => {
      await watch.take(1);
      await api.quietly("DELETE", api.core("configmaps/c"));
      await watch.take(1);
    }, { accept: PROTOBUF });
  },
  "errors": async (api) => {
    await api.get(api.core("configmaps/none"), { accept: PROTOBUF });
    await api.post(api.core("configmaps"), configMap("Bad_Name"), { accept: PROTOBUF, contentType: PROTOBUF });
    await api.post(api.core("secrets"), configMap("c"), { accept: PROTOBUF, contentType: PROTOBUF });
  },
  "deletions and their options": async (api) => {
    const both = { accept: PROTOBUF, contentType: PROTOBUF };
    await api.quietly("POST", api.core("configmaps"), configMap("c", {}, { finalizers: ["example.com/a"] }));
    const options = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
    await api.call("DELETE", api.core("configmaps/c"), options, both);
    await api.quietly("POST", api.core("configmaps"), configMap("d"));
    const wrong = { ...options, preconditions: { uid: "11111111-1111-1111-1111-111111111111" } };
    await api.call("DELETE", api.core("configmaps/d"), wrong, both);
    await api.call("DELETE", api.core("configmaps/d"), options, both);
  },
  "a scale and reviews": async (api) => {
    const both = { accept: PROTOBUF, contentType: PROTOBUF };
    const path = deployments(api);
    await api.quietly("POST", path, deployment());
    const { body } = await api.get(`${path}/d/scale`, { accept: PROTOBUF });
    await api.put(`${path}/d/scale`, { ...body, spec: { replicas: 3 } }, both);
    await api.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: { verb: "get", resource: "pods" } },
    }, both);
  },
  "a patch with a protobuf response": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }));
    await api.call("PATCH", api.core("configmaps/c"), { data: { b: "2" } }, {
      accept: PROTOBUF,
      contentType: "application/merge-patch+json",
    });
    await api.call("PATCH", api.core("configmaps/c?fieldManager=x&force=true"), configMap("c", { a: "2" }), {
      accept: PROTOBUF,
      contentType: "application/apply-patch+yaml",
    });
  },
  "metadata only, of built-in and custom kinds": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }, { labels: { mine: "1" } }));
    await api.quietly("POST", api.widgets(), widget("w"));
    const one = `${PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
    const many = `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
    await api.get(api.core("configmaps/c"), { accept: one });
    await api.get(api.core("configmaps?labelSelector=mine"), { accept: many });
    await api.get(api.widgets("/w"), { accept: one });
    await api.get(api.widgets(), { accept: many });
    await api.watch(api.widgets("?watch=1"), async (watch) => void await watch.take(1), { accept: one });
  },
  "custom kinds and tables have no protobuf": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.quietly("POST", api.core("configmaps"), configMap("c", {}, { labels: { mine: "1" } }));
    for (const accept of [PROTOBUF, EITHER, `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`]) {
      await api.get(api.widgets("/w"), { accept });
      await api.get(api.widgets(), { accept });
      await api.get(api.core("configmaps?labelSelector=mine"), { accept });
      await api.get(api.widgets("/none"), { accept });
    }
  },
  "malformed protobuf": async (api) => {
    for (const body of ["", "k8s\u0000", "k8s\u0000garbage", "{}", "x"]) {
      await api.post(api.core("configmaps"), body, { contentType: PROTOBUF });
    }
  },
});

/** All cases of protobuf. */
export const protobuf: Case[] = [...ofKinds, ...atLarge];
