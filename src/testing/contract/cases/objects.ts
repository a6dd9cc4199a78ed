import { area } from "../contract.ts";
import { configMap, GROUP, widget } from "../widget.ts";

/** Objects one by one. */
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
  "a Secret's text is encoded, its type filled in": async (api) => {
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
  "a Deployment's defaults are filled in": async (api) => {
    await api.post(`/apis/apps/v1/namespaces/${api.namespace}/deployments`, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: {
        selector: { matchLabels: { app: "d" } },
        template: {
          metadata: { labels: { app: "d" } },
          spec: { containers: [{ name: "c", image: "nginx", ports: [{ containerPort: 80 }] }] },
        },
      },
    });
  },
  "a Deployment without what it needs is refused": async (api) => {
    const path = `/apis/apps/v1/namespaces/${api.namespace}/deployments`;
    const deployment = (spec: unknown) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec,
    });
    await api.post(path, deployment({}));
    await api.post(
      path,
      deployment({
        selector: { matchLabels: { app: "d" } },
        template: { metadata: { labels: { app: "e" } }, spec: { containers: [{ name: "c", image: "nginx" }] } },
      }),
    );
    await api.post(path, deployment({ replicas: "three" }));
  },
  "an object that exists is refused": async (api) => {
    await api.post(api.widgets(), widget("w"));
    await api.post(api.widgets(), widget("w"));
    await api.post(api.core("configmaps"), configMap("c"));
    await api.post(api.core("configmaps"), configMap("c"));
  },
  "what is not there is not found": async (api) => {
    await api.get(api.widgets("/none"));
    await api.get(api.core("configmaps/none"));
    await api.put(api.widgets("/none"), widget("none"));
    await api.put(api.core("configmaps/none"), configMap("none"));
    await api.delete(api.widgets("/none"));
    await api.merge(api.widgets("/none"), { spec: {} });
  },
  "a namespace that is not there is not found": async (api) => {
    await api.post(`/apis/${GROUP}/v1/namespaces/nowhere/widgets`, widget("w"));
    await api.post("/api/v1/namespaces/nowhere/configmaps", configMap("c"));
    await api.get("/api/v1/namespaces/nowhere/configmaps");
  },
  "generateName makes names": async (api) => {
    await api.post(api.widgets(), { ...widget("x"), metadata: { generateName: "made-" } });
    await api.post(api.core("configmaps"), { ...configMap("x"), metadata: { generateName: "made-" } });
  },
  "an object without a name is refused": async (api) => {
    await api.post(api.widgets(), { ...widget("x"), metadata: {} });
    await api.post(api.core("configmaps"), { ...configMap("x"), metadata: {} });
  },
  "what the server owns in metadata cannot be written": async (api) => {
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
  "an update that changes nothing keeps its version": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w", { size: 1 }));
    await api.put(api.widgets("/w"), body);
    await api.merge(api.widgets("/w"), { spec: { size: 1 } });
    const { body: map } = await api.post(api.core("configmaps"), configMap("c", { a: "1" }));
    await api.put(api.core("configmaps/c"), map);
  },
  "generation grows with spec alone": async (api) => {
    await api.post(api.widgets(), widget("w", { size: 1 }));
    await api.merge(api.widgets("/w"), { metadata: { labels: { a: "b" } } });
    await api.merge(api.widgets("/w"), { spec: { size: 2 } });
    await api.merge(api.widgets("/w"), { metadata: { annotations: { a: "b" } }, spec: { size: 3 } });
  },
  "an immutable ConfigMap stays as it is": async (api) => {
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
});
