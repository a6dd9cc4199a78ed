import { area } from "../contract.ts";
import { configMap, GROUP, widget } from "../widget.ts";
import { replicaSet, replicaSets } from "../workloads.ts";

/** The subresource status. */
export const status = area("status", {
  "status is written through its subresource": async (api) => {
    const { body } = await api.post(api.widgets(), { ...widget("w"), status: { phase: "Lost" } });
    await api.put(api.widgets("/w/status"), { ...body, spec: { size: 9 }, status: { phase: "Up" } });
    await api.merge(api.widgets("/w/status"), { status: { ready: 1 }, spec: { size: 8 } });
    await api.get(api.widgets("/w/status"));
  },
  "a write of the object does not change status": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.quietly("PATCH", api.widgets("/w/status"), { status: { phase: "Up" } }, {
      contentType: "application/merge-patch+json",
    });
    const { body } = await api.get(api.widgets("/w"));
    await api.put(api.widgets("/w"), { ...body, spec: { size: 5 }, status: { phase: "Down" } });
    await api.merge(api.widgets("/w"), { status: { phase: "Down" } });
  },
  "a write of status does not change metadata": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", {}, { labels: { a: "1" } }));
    await api.merge(api.widgets("/w/status"), {
      metadata: { labels: { a: "2" }, annotations: { b: "3" } },
      status: { phase: "Up" },
    });
    await api.merge(api.widgets("/w/status"), { metadata: { finalizers: ["example.com/x"] } });
  },
  "status is validated and pruned": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.merge(api.widgets("/w/status"), { status: { ready: -1 } });
    await api.merge(api.widgets("/w/status"), { status: { ready: "1" } });
    await api.merge(api.widgets("/w/status"), { status: { ready: 1, other: 2 } });
    await api.merge(api.widgets("/w/status"), { status: { conditions: [{ type: "Ready" }] } });
  },
  "status is removed": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.merge(api.widgets("/w/status"), { status: { phase: "Up", ready: 1 } });
    await api.merge(api.widgets("/w/status"), { status: { phase: null } });
    await api.merge(api.widgets("/w/status"), { status: null });
  },
  "an unknown subresource is not found": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.get(api.widgets("/w/scale"));
    await api.get(api.widgets("/w/nothing"));
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.get(api.core("configmaps/c/status"));
    await api.get(api.widgets("/none/status"));
  },
  "a Deployment's scale": async (api) => {
    const path = replicaSets(api);
    await api.quietly("POST", path, replicaSet());
    await api.get(`${path}/r/scale`);
  },
});

/** Deletion of objects. */
export const deletion = area("deletion", {
  "an object with a finalizer exists until it is removed": async (api) => {
    await api.post(api.widgets(), widget("w", {}, { finalizers: ["example.com/a", "example.com/b"] }));
    await api.delete(api.widgets("/w"));
    await api.get(api.widgets("/w"));
    await api.delete(api.widgets("/w"));
    await api.merge(api.widgets("/w"), { metadata: { finalizers: ["example.com/b"] } });
    await api.merge(api.widgets("/w"), { metadata: { finalizers: [] } });
    await api.get(api.widgets("/w"));
  },
  "no finalizer can be added to an object that is being deleted": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w", {}, { finalizers: ["example.com/a"] }));
    await api.quietly("DELETE", api.widgets("/w"));
    await api.merge(api.widgets("/w"), { metadata: { finalizers: ["example.com/a", "example.com/b"] } });
    await api.merge(api.widgets("/w"), { spec: { size: 9 } });
    await api.merge(api.widgets("/w"), { metadata: { deletionTimestamp: null } });
  },
  "a finalizer of a ConfigMap": async (api) => {
    await api.quietly("POST", api.core("configmaps"), configMap("c", {}, { finalizers: ["example.com/a"] }));
    await api.delete(api.core("configmaps/c"));
    await api.jsonPatch(api.core("configmaps/c"), [{ op: "remove", path: "/metadata/finalizers" }]);
    await api.get(api.core("configmaps/c"));
  },
  "foreground deletion": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    const options = { kind: "DeleteOptions", apiVersion: "v1" };
    await api.delete(api.widgets("/w"), { ...options, propagationPolicy: "Foreground" });
    await api.quietly("POST", api.widgets(), widget("x"));
    await api.delete(api.widgets("/x"), { ...options, propagationPolicy: "Orphan" });
    await api.quietly("POST", api.widgets(), widget("y"));
    await api.delete(api.widgets("/y"), { ...options, propagationPolicy: "Background" });
    await api.delete(api.widgets("/y"), { ...options, propagationPolicy: "Sideways" });
  },
  "a deletion with preconditions": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w"));
    const options = { kind: "DeleteOptions", apiVersion: "v1" };
    await api.delete(api.widgets("/w"), { ...options, preconditions: { uid: "11111111-1111-1111-1111-111111111111" } });
    await api.delete(api.widgets("/w"), { ...options, preconditions: { resourceVersion: "1" } });
    const { uid, resourceVersion } = body.metadata;
    await api.delete(api.widgets("/w"), { ...options, preconditions: { uid, resourceVersion } });
  },
  "a deletion with invalid options": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.delete(api.widgets("/w"), "{");
    await api.delete(api.widgets("/w"), { kind: "Other", apiVersion: "v1" });
    await api.delete(api.widgets("/w"), {});
  },
  "kinds whose deletion returns the deleted object, and one that returns a status": async (api) => {
    const containers = [{ name: "c", image: "example.com/c" }];
    const template = { metadata: { labels: { a: "b" } }, spec: { containers } };
    const namespaced: readonly (readonly [path: string, body: object])[] = [
      [api.core("replicationcontrollers"), { spec: { replicas: 0, selector: { a: "b" }, template } }],
      [api.core("podtemplates"), { template }],
      [api.core("resourcequotas"), { spec: {} }],
      [api.core("services"), { spec: { clusterIP: "None" } }],
      [api.core("configmaps"), {}],
    ];
    for (const [path, body] of namespaced) {
      await api.quietly("POST", path, { metadata: { name: "x" }, ...body });
      await api.delete(`${path}/x`);
    }
    const cluster: readonly (readonly [path: string, body: object])[] = [
      ["/apis/storage.k8s.io/v1/volumeattributesclasses", { driverName: "example.com", parameters: { a: "b" } }],
      ["/apis/resource.k8s.io/v1/deviceclasses", { spec: {} }],
    ];
    for (const [path, body] of cluster) {
      await api.quietly("POST", path, { metadata: { name: "returned" }, ...body });
      await api.delete(`${path}/returned`);
    }
  },
});

/** Optimistic concurrency. */
export const conflicts = area("preconditions", {
  "an update based on an older resourceVersion is a conflict": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w"));
    await api.merge(api.widgets("/w"), { spec: { size: 5 } });
    await api.put(api.widgets("/w"), body);
    await api.put(api.widgets("/w/status"), { ...body, status: { phase: "Up" } });
    const { body: map } = await api.post(api.core("configmaps"), configMap("c"));
    await api.merge(api.core("configmaps/c"), { data: { a: "1" } });
    await api.put(api.core("configmaps/c"), map);
  },
  "an update without a resourceVersion": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.put(api.widgets("/w"), widget("w", { size: 5 }));
    await api.quietly("POST", api.core("configmaps"), configMap("c"));
    await api.put(api.core("configmaps/c"), configMap("c", { a: "1" }));
  },
  "a patch with a resourceVersion": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w"));
    const { resourceVersion } = body.metadata;
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion }, spec: { size: 5 } });
    await api.merge(api.widgets("/w"), { metadata: { resourceVersion }, spec: { size: 6 } });
    await api.apply(api.widgets("/w?fieldManager=one"), widget("w", { color: "red" }, { resourceVersion }));
  },
  "an update of another uid is a conflict": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w"));
    await api.put(api.widgets("/w"), {
      ...body,
      metadata: { ...body.metadata, uid: "11111111-1111-1111-1111-111111111111" },
    });
  },
  "a create with a resourceVersion is rejected": async (api) => {
    await api.post(api.widgets(), widget("w", {}, { resourceVersion: "1" }));
    await api.post(api.core("configmaps"), configMap("c", {}, { resourceVersion: "1" }));
  },
  "an update with another name in the body is rejected": async (api) => {
    const { body } = await api.post(api.widgets(), widget("w"));
    await api.put(api.widgets("/w"), { ...body, metadata: { ...body.metadata, name: "v" } });
    await api.put(api.widgets("/w"), { ...body, metadata: { ...body.metadata, namespace: "other" } });
    await api.put(api.widgets("/w"), { ...body, kind: "Gadget" });
    await api.put(api.widgets("/w"), { ...body, apiVersion: `${GROUP}/v9` });
  },
});
