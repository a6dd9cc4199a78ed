import { area } from "../contract.ts";
import { JSON_PATCH, MERGE } from "../recorder.ts";
import { configMap, GROUP, widget } from "../widget.ts";
import { deployment, deployments } from "../workloads.ts";

/** Writes and reads of single objects. */
export const objects = area("objects", {
  "create, get, update and delete a custom object": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w", { size: 1 }, { labels: { a: "b" } }));
    await api.get(api.widgets("/w"));
    await api.put(api.widgets("/w"), { ...body, spec: { size: 2 } });
    await api.delete(api.widgets("/w"));
    await api.get(api.widgets("/w"));
  },
  "create, get, update and delete a ConfigMap": async (api) => {
    const { body } = await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    await api.get(api.core("configmaps/c"));
    await api.put(api.core("configmaps/c"), { ...body, data: { a: "2" } });
    await api.delete(api.core("configmaps/c"));
    await api.get(api.core("configmaps/c"));
  },
  "stringData of a Secret is encoded, and its type is defaulted": async (api) => {
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "text" } };
    await api.post(api.core("secrets"), secret);
    await api.merge(api.core("secrets/s"), { stringData: { b: "more" } });
    await api.merge(api.core("secrets/s"), { type: "other" });
    await api.post(api.core("secrets"), { ...secret, metadata: { name: "t" }, data: { a: "not base64!" } });
  },
  "a Namespace is active and has its label": async (api) => {
    const name = `${api.namespace}-more`;
    await api.post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await api.get(`/api/v1/namespaces/${name}`);
  },
  "defaults of a Deployment": async (api) => {
    const containers = [{ name: "c", image: "nginx", ports: [{ containerPort: 80 }] }];
    await api.post(deployments(api), deployment({ containers }));
  },
  "a Deployment without required fields is rejected": async (api) => {
    const of = (spec: unknown) => ({ ...deployment(), spec });
    await api.post(deployments(api), of({}));
    await api.post(
      deployments(api),
      of({
        selector: { matchLabels: { app: "d" } },
        template: { metadata: { labels: { app: "e" } }, spec: { containers: [{ name: "c", image: "nginx" }] } },
      }),
    );
    await api.post(deployments(api), of({ replicas: "three" }));
  },
  "a create of an existing object is rejected": async (api) => {
    await api.post(api.widgets(), widget("w"));
    await api.post(api.widgets(), widget("w"));
    await api.post(api.core("configmaps"), configMap("c"));
    await api.post(api.core("configmaps"), configMap("c"));
  },
  "a missing object is not found": async (api) => {
    await api.get(api.widgets("/none"));
    await api.get(api.core("configmaps/none"));
    await api.put(api.widgets("/none"), widget("none"));
    await api.put(api.core("configmaps/none"), configMap("none"));
    await api.delete(api.widgets("/none"));
    await api.merge(api.widgets("/none"), { spec: {} });
  },
  "a missing namespace is not found": async (api) => {
    await api.post(`/apis/${GROUP}/v1/namespaces/nowhere/widgets`, widget("w"));
    await api.post("/api/v1/namespaces/nowhere/configmaps", configMap("c"));
    await api.get("/api/v1/namespaces/nowhere/configmaps");
  },
  "generateName generates names": async (api) => {
    await api.post(api.widgets(), { ...widget("x"), metadata: { generateName: "made-" } });
    await api.post(api.core("configmaps"), { ...configMap("x"), metadata: { generateName: "made-" } });
  },
  "an object without a name is rejected": async (api) => {
    await api.post(api.widgets(), { ...widget("x"), metadata: {} });
    await api.post(api.core("configmaps"), { ...configMap("x"), metadata: {} });
  },
  "metadata that the server sets cannot be written": async (api) => {
    const metadata = {
      uid: "11111111-1111-1111-1111-111111111111",
      creationTimestamp: "2001-01-01T00:00:00Z",
      generation: 7,
      deletionTimestamp: "2001-01-01T00:00:00Z",
      selfLink: "/x",
    };
    await api.post(api.widgets(), widget("w", {}, metadata));
    await api.post(api.core("configmaps"), configMap("c", {}, metadata));
    await api.merge(api.widgets("/w"), { metadata: { creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 } });
    await api.merge(api.widgets("/w"), { metadata: { uid: "11111111-1111-1111-1111-111111111111" } });
    await api.merge(api.widgets("/w"), { metadata: { name: "other" } });
    await api.merge(api.widgets("/w"), { metadata: { namespace: "other" } });
  },
  "an update without changes keeps the resourceVersion": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w", { size: 1 }));
    await api.put(api.widgets("/w"), body);
    await api.merge(api.widgets("/w"), { spec: { size: 1 } });
    const { body: map } = await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    await api.put(api.core("configmaps/c"), map);
  },
  "generation increases only with changes of spec": async (api) => {
    await api.post(api.widgets(), widget("w", { size: 1 }));
    await api.merge(api.widgets("/w"), { metadata: { labels: { a: "b" } } });
    await api.merge(api.widgets("/w"), { spec: { size: 2 } });
    await api.merge(api.widgets("/w"), { metadata: { annotations: { a: "b" } }, spec: { size: 3 } });
  },
  "an immutable ConfigMap cannot change": async (api) => {
    await api.post(api.core("configmaps"), { ...configMap("c", { a: "1" }), immutable: true });
    await api.merge(api.core("configmaps/c"), { data: { a: "2" } });
    await api.merge(api.core("configmaps/c"), { immutable: false });
    await api.merge(api.core("configmaps/c"), { metadata: { labels: { a: "b" } } });
  },
  "an Event and a Lease can be written": async (api) => {
    await api.post(`/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "e" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingController: "example.com/contract",
      reportingInstance: "one",
      action: "Trying",
      reason: "Tried",
      type: "Normal",
      note: "tried",
      regarding: { kind: "ConfigMap", namespace: api.namespace, name: "c", apiVersion: "v1" },
    });
    await api.get(api.core("events/e"));
    const path = `/apis/coordination.k8s.io/v1/namespaces/${api.namespace}/leases`;
    await api.post(path, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l" },
      spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z" },
    });
    await api.merge(`${path}/l`, { spec: { leaseDurationSeconds: 0 } });
  },
  "times are read and written as by Go": async (api) => {
    const event = { apiVersion: "v1", kind: "Event", involvedObject: { namespace: api.namespace } };
    for (const [i, firstTimestamp] of TIMES.entries()) {
      await api.post(api.core("events"), { ...event, metadata: { name: `e${i}` }, firstTimestamp });
    }
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${api.namespace}/leases`;
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
    for (const [i, renewTime] of [...TIMES, "2020-01-02T03:04:05.123456+01:00"].entries()) {
      await api.post(leases, { ...lease, metadata: { name: `l${i}` }, spec: { renewTime } });
    }
    await api.post(api.core("configmaps"), configMap("c", {}, { creationTimestamp: "yesterday" }));
  },
  "integers must fit their type": async (api) => {
    const path = `/apis/apps/v1/namespaces/${api.namespace}/replicasets?dryRun=All`;
    const set = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "a" } };
    for (const minReadySeconds of [2_147_483_648, -2_147_483_649, 1.5]) {
      await api.post(path, { ...set, spec: { minReadySeconds } });
    }
  },
  "most built-in kinds have no finalizer without a domain": async (api) => {
    const finalizers = ["tidy"];
    await api.post(api.core("configmaps"), configMap("a", {}, { finalizers }));
    await api.post(api.core("configmaps"), configMap("b", {}, { finalizers: ["example.com/tidy", "orphan"] }));
    await api.merge(`/api/v1/namespaces/${api.namespace}?dryRun=All`, { metadata: { finalizers } });
    for (const [group, kind] of [["coordination.k8s.io/v1", "Lease"], ["policy/v1", "PodDisruptionBudget"]] as const) {
      const object = { apiVersion: group, kind, metadata: { name: "a", finalizers }, spec: {} };
      await api.post(`/apis/${group}/namespaces/${api.namespace}/${kind.toLowerCase()}s?dryRun=All`, object);
    }
  },
  "404 takes precedence over an invalid patch": async (api) => {
    const path = api.core("configmaps/none");
    for (const type of [JSON_PATCH, MERGE]) await api.call("PATCH", path, "[", { contentType: type });
    await api.merge(api.widgets("/none"), ["none"]);
  },
  "wrong types in delete options": async (api) => {
    for (
      const [key, value] of [["gracePeriodSeconds", "x"], ["preconditions", []]] as const
    ) {
      await api.delete(api.core("configmaps/none"), { kind: "DeleteOptions", apiVersion: "v1", [key]: value });
    }
  },
  "a watch rejects an invalid limit": async (api) =>
    void await api.get(api.core("configmaps?watch=1&limit=x&timeoutSeconds=1")),
});

const TIMES = [
  ...["2020-01-02T03:04:05Z", "2020-01-02T03:04:05.5+01:00", "2020", "2020-01-02", "2020-13-01T00:00:00Z"],
  ...["2020-02-30T00:00:00Z", "2020-01-01T25:00:00Z", "2020-01-01T00:00:00+25:00", "2020-01-01T00:00:00", "", "x"],
];
