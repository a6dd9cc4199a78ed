/** Server-side apply combined with update, patch, client-side apply and subresources. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";
import { deployment, deployments } from "../workloads.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns a ConfigMap with the annotation of client-side apply. */
async function clientSide(api: Recorder, data: Record<string, string>, manager = "kubectl-client-side-apply") {
  const last = JSON.stringify(configMap("c", data));
  const object = configMap("c", data, { annotations: { [LAST_APPLIED]: `${last}\n` } });
  await api.quietly("POST", api.core(`configmaps?fieldManager=${manager}`), object);
}

export const applyMigration = area("apply migration", {
  "from client-side apply by kubectl": async (api) => {
    await clientSide(api, { a: "1", b: "2" });
    await api.apply(api.core("configmaps/c?fieldManager=kubectl"), configMap("c", { a: "1" }));
  },
  "from client-side apply with a changed value": async (api) => {
    await clientSide(api, { a: "1", b: "2" });
    await api.apply(api.core("configmaps/c?fieldManager=kubectl"), configMap("c", { a: "3" }));
    await api.get(api.core("configmaps/c"));
  },
  "from client-side apply by another manager": async (api) => {
    await clientSide(api, { a: "1", b: "2" });
    await api.apply(api.core("configmaps/c?fieldManager=one"), configMap("c", { a: "3" }));
    await api.apply(api.core("configmaps/c?fieldManager=one&force=true"), configMap("c", { a: "3" }));
  },
  "from client-side apply with an annotation of another manager": async (api) => {
    await clientSide(api, { a: "1", b: "2" }, "someone");
    await api.apply(api.core("configmaps/c?fieldManager=kubectl"), configMap("c", { a: "3" }));
  },
  "server-side apply updates the annotation of client-side apply": async (api) => {
    await clientSide(api, { a: "1" });
    await api.apply(api.core("configmaps/c?fieldManager=kubectl&force=true"), configMap("c", { a: "2", z: "1" }));
    await api.apply(api.core("configmaps/c?fieldManager=kubectl&force=true"), configMap("c", { z: "1" }));
  },
  "an apply of the annotation of client-side apply": async (api) => {
    const annotations = { [LAST_APPLIED]: "{}" };
    await api.apply(api.core("configmaps/c?fieldManager=kubectl"), configMap("c", { a: "2" }, { annotations }));
  },
  "the first apply is one of a status": async (api) => {
    const bare = { apiVersion: "contract.example.com/v1", kind: "Widget", metadata: { name: "w" } };
    // Without any owners, fields are not tracked until the next apply.
    await api.apply(api.widgets("/w?fieldManager=one"), { ...bare, spec: { ports: [] } });
    await api.merge(api.widgets("/w/status"), { status: { phase: "Down" } });
    await api.apply(api.widgets("/w/status?fieldManager=one&force=true"), { ...bare, status: {} });
    await api.apply(api.widgets("/w?fieldManager=one&force=true"), { ...bare, spec: { size: 4 } });
  },
  "an update after an apply": async (api) => {
    const { body } = await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1, color: "red" }));
    await api.put(api.widgets("/w?fieldManager=two"), { ...body, spec: { ...body.spec, size: 2 } });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1 }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
  },
  "an update that removes a field": async (api) => {
    const { body } = await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1, color: "red" }));
    const { color: _color, ...rest } = body.spec;
    await api.put(api.widgets("/w?fieldManager=two"), { ...body, spec: rest });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1, color: "red" }));
  },
  "an update and an apply by the same manager": async (api) => {
    await api.post(api.widgets("?fieldManager=one"), widget("w", { size: 1, color: "red" }));
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
    await api.apply(api.widgets("/w?fieldManager=one&force=true"), widget("w", { size: 2 }));
    await api.merge(api.widgets("/w?fieldManager=one"), { spec: { size: 3 } });
  },
  "an update clears all managers": async (api) => {
    const { body } = await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1 }));
    await api.put(api.widgets("/w?fieldManager=two"), { ...body, metadata: { ...body.metadata, managedFields: [{}] } });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 2 }));
  },
  "an update that sets managedFields": async (api) => {
    const { body } = await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1 }));
    const [entry] = body.metadata.managedFields;
    const renamed = [{ ...entry, manager: "renamed" }];
    await api.put(api.widgets("/w?fieldManager=two"), {
      ...body,
      metadata: { ...body.metadata, managedFields: renamed },
    });
    await api.jsonPatch(api.widgets("/w?fieldManager=two"), [{ op: "remove", path: "/metadata/managedFields/0" }]);
    await api.merge(api.widgets("/w?fieldManager=two"), { metadata: { managedFields: null } });
  },
  "invalid managedFields": async (api) => {
    const { body } = await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1 }));
    const [entry] = body.metadata.managedFields;
    const bad = [
      { ...entry, operation: "Delete" },
      { ...entry, fieldsType: "FieldsV2" },
      { ...entry, fieldsV1: { "x:spec": {} } },
      { ...entry, apiVersion: "" },
      { ...entry, manager: "a\nb" },
      { ...entry, subresource: "x".repeat(300) },
      { ...entry, operation: "" },
    ];
    for (const each of bad) {
      await api.merge(api.widgets("/w?fieldManager=two"), { metadata: { managedFields: [each] } });
    }
  },
  "status is owned separately": async (api) => {
    await api.post(api.widgets("?fieldManager=maker"), { ...widget("w", { size: 1 }), status: { phase: "lost" } });
    await api.merge(api.widgets("/w/status?fieldManager=maker"), { status: { phase: "Up", ready: 1 } });
    await api.apply(api.widgets("/w/status?fieldManager=one"), { ...widget("w"), status: { phase: "Down" } });
    await api.apply(api.widgets("/w/status?fieldManager=one&force=true"), {
      ...widget("w"),
      status: { phase: "Down" },
    });
    await api.merge(api.widgets("/w/status?fieldManager=maker"), { status: { ready: null } });
  },
  "conditions of several managers": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=maker"), widget("w"));
    const conditions = (...types: string[]) => ({
      ...widget("w"),
      status: { conditions: types.map((type) => ({ type, status: "True" })) },
    });
    await api.apply(api.widgets("/w/status?fieldManager=one"), conditions("Ready", "Synced"));
    await api.apply(api.widgets("/w/status?fieldManager=two"), conditions("Healthy", "Synced"));
    await api.apply(api.widgets("/w/status?fieldManager=one"), conditions("Ready"));
    await api.apply(api.widgets("/w/status?fieldManager=two"), conditions());
  },
  "metadata in a write of status": async (api) => {
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { size: 1 }, { labels: { a: "1" } }));
    await api.apply(api.widgets("/w/status?fieldManager=two"), {
      ...widget("w", {}, { labels: { b: "1" }, annotations: { c: "1" } }),
      status: { phase: "Up" },
    });
    await api.get(api.widgets("/w"));
  },
  "status of a missing object": async (api) => {
    await api.apply(api.widgets("/none/status?fieldManager=one"), { ...widget("none"), status: { phase: "Up" } });
  },
  "replicas in a write of scale": async (api) => {
    await api.quietly(
      "POST",
      `${deployments(api)}?fieldManager=maker`,
      deployment(),
    );
    await api.merge(`${deployments(api)}/d/scale?fieldManager=scaler`, { spec: { replicas: 3 } });
    await api.apply(
      `${deployments(api)}/d?fieldManager=one`,
      deployment({ containers: [{ name: "a", image: "x" }] }, { replicas: 2 }),
    );
    const scale = (replicas: number) => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d", namespace: api.namespace },
      spec: { replicas },
    });
    await api.apply(`${deployments(api)}/d/scale?fieldManager=two`, scale(4));
    await api.apply(`${deployments(api)}/d/scale?fieldManager=two&force=true`, scale(5));
    await api.get(`${deployments(api)}/d`);
  },
  "status of a Deployment": async (api) => {
    await api.quietly(
      "POST",
      `${deployments(api)}?fieldManager=maker`,
      deployment(),
    );
    const status = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" } };
    await api.apply(`${deployments(api)}/d/status?fieldManager=one`, {
      ...status,
      status: { replicas: 1, conditions: [{ type: "Available", status: "True" }] },
    });
    await api.apply(`${deployments(api)}/d/status?fieldManager=two`, {
      ...status,
      status: { conditions: [{ type: "Progressing", status: "True", reason: "x" }] },
    });
    await api.apply(`${deployments(api)}/d/status?fieldManager=one`, { ...status, status: { replicas: 1 } });
  },
  "containers that are added and removed": async (api) => {
    const path = (manager: string) => `${deployments(api)}/d?fieldManager=${manager}`;
    const [a, b] = [{ name: "a", image: "x" }, { name: "b", image: "y" }];
    await api.apply(path("one"), deployment({ containers: [a, b] }));
    await api.apply(path("two"), deployment({ containers: [{ ...a, image: "z" }] }));
    await api.apply(path("two&force=true"), deployment({ containers: [{ ...a, image: "z" }] }));
    await api.apply(path("one"), deployment({ containers: [b] }));
  },
  "env, volumes and mounts of containers": async (api) => {
    const path = (manager: string) => `${deployments(api)}/d?fieldManager=${manager}`;
    const with_ = (env: unknown[], mounts: unknown[], volumes: unknown[]) =>
      deployment({ containers: [{ name: "a", image: "x", env, volumeMounts: mounts }], volumes });
    const volume = (name: string) => ({ name, emptyDir: {} });
    const mount = (name: string, mountPath: string) => ({ name, mountPath });
    await api.apply(path("one"), with_([{ name: "A", value: "1" }], [mount("v", "/v")], [volume("v")]));
    await api.apply(path("two"), with_([{ name: "B", value: "1" }], [mount("v", "/w")], [volume("v")]));
    await api.apply(path("two"), with_([{ name: "A", value: "2" }], [], []));
    await api.apply(path("one"), with_([], [], []));
  },
  "commands and arguments are atomic": async (api) => {
    const path = (manager: string) => `${deployments(api)}/d?fieldManager=${manager}`;
    const with_ = (command: string[]) => deployment({ containers: [{ name: "a", image: "x", command }] });
    await api.apply(path("one"), with_(["a", "b"]));
    await api.apply(path("two"), with_(["b"]));
    await api.apply(path("one"), with_(["c"]));
  },
  "the ports of a Service": async (api) => {
    const service = (ports: unknown[], selector: unknown = { app: "a" }) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { clusterIP: "None", ports, selector },
    });
    const path = (manager: string) => api.core(`services/s?fieldManager=${manager}`);
    await api.apply(path("one"), service([{ port: 80, name: "http" }]));
    await api.apply(path("two"), service([{ port: 443, name: "https", protocol: "TCP" }]));
    await api.apply(path("two"), service([{ port: 80, targetPort: 8080 }]));
    await api.apply(path("one"), service([{ port: 80, name: "http" }], { app: "b" }));
  },
  "a Secret by stringData and by data": async (api) => {
    const secret = (fields: Record<string, unknown>) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      ...fields,
    });
    await api.apply(api.core("secrets/s?fieldManager=one"), secret({ stringData: { a: "text" } }));
    await api.apply(api.core("secrets/s?fieldManager=one"), secret({ data: { a: "dGV4dA==" } }));
    await api.apply(api.core("secrets/s?fieldManager=two"), secret({ data: { b: "dGV4dA==" } }));
    await api.apply(api.core("secrets/s?fieldManager=two"), secret({ data: { b: "no base64" } }));
  },
  "quantities of resources keep their spelling": async (api) => {
    const path = (manager: string) => `${deployments(api)}/d?fieldManager=${manager}`;
    const with_ = (limits: unknown) => deployment({ containers: [{ name: "a", image: "x", resources: { limits } }] });
    await api.apply(path("one"), with_({ cpu: "1000m", memory: "1024Mi" }));
    await api.apply(path("one"), with_({ cpu: "1000m", memory: "1024Mi" }));
    await api.apply(path("two"), with_({ cpu: "1", memory: "1Gi" }));
    await api.apply(path("two"), with_({ cpu: 2 }));
  },
  "a Role's rules are atomic": async (api) => {
    const path = (manager: string) =>
      `/apis/rbac.authorization.k8s.io/v1/namespaces/${api.namespace}/roles/r?fieldManager=${manager}`;
    const role = (...resources: string[]) => ({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "r" },
      rules: resources.map((resource) => ({ apiGroups: [""], resources: [resource], verbs: ["get"] })),
    });
    await api.apply(path("one"), role("pods"));
    await api.apply(path("two"), role("pods", "secrets"));
    await api.apply(path("one"), role("pods", "secrets"));
  },
  "a Lease": async (api) => {
    const path = (manager: string) =>
      `/apis/coordination.k8s.io/v1/namespaces/${api.namespace}/leases/l?fieldManager=${manager}`;
    const lease = (spec: unknown) => ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "l" },
      spec,
    });
    await api.apply(path("one"), lease({ holderIdentity: "a", leaseDurationSeconds: 15 }));
    await api.apply(path("two"), lease({ holderIdentity: "b" }));
    await api.apply(path("one"), lease({ holderIdentity: "a", renewTime: "2030-01-01T00:00:00.000000Z" }));
  },
  "an Ingress": async (api) => {
    const path = (manager: string) =>
      `/apis/networking.k8s.io/v1/namespaces/${api.namespace}/ingresses/i?fieldManager=${manager}`;
    const rule = (host: string) => ({
      host,
      http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } } }] },
    });
    const ingress = (...hosts: string[]) => ({
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "i" },
      spec: { rules: hosts.map(rule) },
    });
    await api.apply(path("one"), ingress("a.example.com"));
    await api.apply(path("two"), ingress("b.example.com"));
    await api.apply(path("one"), ingress("a.example.com", "b.example.com"));
  },
  "a Namespace": async (api) => {
    const name = `${api.namespace}-applied`;
    const namespace = (labels: unknown) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
    await api.apply(`/api/v1/namespaces/${name}?fieldManager=one`, namespace({ a: "1" }));
    await api.apply(`/api/v1/namespaces/${name}?fieldManager=two`, namespace({ b: "1" }));
    await api.apply(`/api/v1/namespaces/${name}?fieldManager=one`, namespace({}));
  },
  "a CustomResourceDefinition": async (api) => {
    const name = `${api.namespace}s.applied.example.com`;
    const definition = (schema: unknown) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name },
      spec: {
        group: "applied.example.com",
        names: { kind: "Applied", plural: `${api.namespace}s` },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`;
    await api.apply(`${path}?fieldManager=one&dryRun=All`, definition({ type: "object" }));
    await api.apply(`${path}?fieldManager=one&dryRun=All`, definition({}));
  },
  "an immutable field by apply": async (api) => {
    const path = (manager: string) => `${deployments(api)}/d?fieldManager=${manager}`;
    const containers = [{ name: "a", image: "x" }];
    await api.apply(path("one"), deployment({ containers }));
    await api.apply(path("one"), deployment({ containers }, { selector: { matchLabels: { app: "e" } } }));
    await api.apply(api.core("configmaps/c?fieldManager=one"), { ...configMap("c", { a: "1" }), immutable: true });
    await api.apply(api.core("configmaps/c?fieldManager=one"), { ...configMap("c", { a: "2" }), immutable: true });
  },
  "unknown and duplicate fields of a built-in kind": async (api) => {
    const path = (strictness: string) => api.core(`configmaps/c?fieldManager=one&fieldValidation=${strictness}`);
    await api.apply(path("Strict"), { ...configMap("c"), other: 1 });
    await api.apply(path("Warn"), { ...configMap("c"), other: 1 });
    await api.apply(path("Ignore"), { ...configMap("c"), other: 1 });
    await api.apply(path("Strict"), "apiVersion: v1\nkind: ConfigMap\ndata: {a: x, a: y}\n");
  },
  "a wrong type in a built-in kind": async (api) => {
    await api.apply(api.core("configmaps/c?fieldManager=one"), { ...configMap("c"), data: { a: 1 } });
    await api.apply(api.core("configmaps/c?fieldManager=one"), { ...configMap("c"), data: [] });
    await api.apply(`${deployments(api)}/d?fieldManager=one`, deployment({ containers: [{ image: "x" }] }));
    await api.apply(`${deployments(api)}/d?fieldManager=one`, deployment({ containers: {} }));
  },
});
