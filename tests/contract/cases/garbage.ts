import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, GROUP, widget } from "../widget.ts";

/** Creates a ConfigMap, and returns an owner reference to it. */
async function createOwner(
  api: Recorder,
  name: string,
  more: Record<string, unknown> = {},
): Promise<Record<string, unknown>> {
  const { body } = await api.quietly("POST", api.core("configmaps"), configMap(name));
  return { apiVersion: "v1", kind: "ConfigMap", name, uid: body.metadata.uid, ...more };
}

const OPTIONS = { kind: "DeleteOptions", apiVersion: "v1" };

/** Garbage collection. The real server needs kube-controller-manager for it. */
export const garbage = area("garbage collection", {
  "an owned object is deleted after its owner": async (api) => {
    const owners = [await createOwner(api, "owner")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Background" });
    await api.untilStatus(api.core("configmaps/owned"), 404);
    await api.get(api.core("configmaps/owned"));
  },
  "foreground deletion deletes owned objects first": async (api) => {
    const owners = [await createOwner(api, "owner", { blockOwnerDeletion: true })];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.watch(api.core("configmaps?watch=1&fieldSelector=metadata.name!%3Dkube-root-ca.crt"), async (watch) => {
      await watch.take(2);
      await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Foreground" });
      await watch.until((event) => event.type === "DELETED" && event.object.metadata.name === "owner");
    });
  },
  "an orphaned object stays without an owner reference": async (api) => {
    const owners = [await createOwner(api, "owner")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Orphan" });
    await api.untilStatus(api.core("configmaps/owner"), 404);
    await api.get(api.core("configmaps/owned"));
  },
  "an object with another owner stays": async (api) => {
    const owners = [await createOwner(api, "owner"), await createOwner(api, "other")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), OPTIONS);
    await api.untilAnswer(api.core("configmaps/owned"), ({ body }) => body.metadata.ownerReferences.length === 1);
    await api.get(api.core("configmaps/owned"));
  },
  "an object with a missing owner is deleted": async (api) => {
    const gone = { apiVersion: "v1", kind: "ConfigMap", name: "never", uid: "11111111-1111-1111-1111-111111111111" };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: [gone] }));
    await api.untilStatus(api.core("configmaps/owned"), 404);
  },
  "a namespace has a default service account, which is recreated": async (api) => {
    const path = api.core("serviceaccounts/default");
    await api.untilStatus(path, 200);
    const { body } = await api.get(path);
    await api.quietly("DELETE", path);
    await api.untilAnswer(path, (answer) => answer.status === 200 && answer.body.metadata.uid !== body.metadata.uid);
    await api.get(path);
  },
  "deleting a namespace deletes its objects": async (api) => {
    const name = `${api.namespace}-gone`;
    await api.quietly("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await api.quietly("POST", `/api/v1/namespaces/${name}/configmaps`, configMap("c"));
    await api.quietly("DELETE", `/api/v1/namespaces/${name}`);
    await api.untilStatus(`/api/v1/namespaces/${name}`, 404);
    await api.get(`/api/v1/namespaces/${name}/configmaps/c`);
  },
  "a chain of owners is deleted link by link": async (api) => {
    const first = await createOwner(api, "first");
    const { body } = await api.quietly(
      "POST",
      api.core("configmaps"),
      configMap("second", {}, { ownerReferences: [first] }),
    );
    const second = { apiVersion: "v1", kind: "ConfigMap", name: "second", uid: body.metadata.uid };
    await api.quietly("POST", api.core("configmaps"), configMap("third", {}, { ownerReferences: [second] }));
    await api.delete(api.core("configmaps/first"), { ...OPTIONS, propagationPolicy: "Background" });
    await api.untilStatus(api.core("configmaps/third"), 404);
    await api.get(api.core("configmaps/second"));
  },
  "foreground deletion of a chain of owners": async (api) => {
    const first = await createOwner(api, "first");
    const blocking = { blockOwnerDeletion: true };
    const { body } = await api.quietly(
      "POST",
      api.core("configmaps"),
      configMap("second", {}, { ownerReferences: [{ ...first, ...blocking }] }),
    );
    const second = { apiVersion: "v1", kind: "ConfigMap", name: "second", uid: body.metadata.uid, ...blocking };
    await api.quietly("POST", api.core("configmaps"), configMap("third", {}, { ownerReferences: [second] }));
    await api.untilAnswer(api.core("configmaps/third"), ({ status }) => status === 200);
    await api.delete(api.core("configmaps/first"), { ...OPTIONS, propagationPolicy: "Foreground" });
    await api.untilStatus(api.core("configmaps/first"), 404);
    await api.get(api.core("configmaps/second"));
    await api.get(api.core("configmaps/third"));
  },
  "foreground deletion does not wait for owned objects that do not block": async (api) => {
    const reference = await createOwner(api, "owner");
    const metadata = { ownerReferences: [reference], finalizers: ["example.com/a"] };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, metadata));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Foreground" });
    await api.untilStatus(api.core("configmaps/owner"), 404);
    await api.untilAnswer(api.core("configmaps/owned"), ({ body }) => body.metadata.deletionTimestamp !== undefined);
    await api.merge(api.core("configmaps/owned"), { metadata: { finalizers: null } });
  },
  "foreground deletion waits for an owned object with a finalizer": async (api) => {
    const reference = await createOwner(api, "owner", { blockOwnerDeletion: true });
    const metadata = { ownerReferences: [reference], finalizers: ["example.com/a"] };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, metadata));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Foreground" });
    await api.untilAnswer(api.core("configmaps/owned"), ({ body }) => body.metadata.deletionTimestamp !== undefined);
    await api.get(api.core("configmaps/owner"));
    await api.merge(api.core("configmaps/owned"), { metadata: { finalizers: null } });
    await api.untilStatus(api.core("configmaps/owner"), 404);
  },
  "an object whose owner has another uid is deleted": async (api) => {
    const reference = await createOwner(api, "owner");
    const wrong = { ...reference, uid: "11111111-1111-1111-1111-111111111111" };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: [wrong] }));
    await api.untilStatus(api.core("configmaps/owned"), 404);
    await api.get(api.core("configmaps/owner"));
  },
  "an owner in another namespace does not count": async (api) => {
    const { body } = await api.quietly(
      "POST",
      "/api/v1/namespaces/default/configmaps",
      configMap(`${api.namespace}-far`),
    );
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: `${api.namespace}-far`, uid: body.metadata.uid };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: [reference] }));
    await api.untilStatus(api.core("configmaps/owned"), 404);
    await api.quietly("DELETE", `/api/v1/namespaces/default/configmaps/${api.namespace}-far`);
  },
  "a cluster-scoped owner": async (api) => {
    const path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    const name = `${api.namespace}-owner`;
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules: [] };
    const { body } = await api.quietly("POST", path, role);
    const reference = { apiVersion: role.apiVersion, kind: role.kind, name, uid: body.metadata.uid };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: [reference] }));
    await api.get(api.core("configmaps/owned"));
    await api.quietly("DELETE", `${path}/${name}`, { ...OPTIONS, propagationPolicy: "Background" });
    await api.untilStatus(api.core("configmaps/owned"), 404);
  },
  "an owner of an unknown kind": async (api) => {
    const reference = {
      apiVersion: "none.example.com/v1",
      kind: "None",
      name: "n",
      uid: "11111111-1111-1111-1111-111111111111",
    };
    await api.post(api.core("configmaps"), configMap("owned", {}, { ownerReferences: [reference] }));
    await api.get(api.core("configmaps/owned"));
  },
  "invalid owner references": async (api) => {
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "o", uid: "1" };
    const wrong = [{ ...reference, uid: "" }, { ...reference, name: "" }, { ...reference, kind: "" }, {
      ...reference,
      apiVersion: "",
    }];
    for (const each of wrong) await api.post(api.core("configmaps"), configMap("c", {}, { ownerReferences: [each] }));
    const two = [{ ...reference, controller: true }, { ...reference, uid: "2", controller: true }];
    await api.post(api.core("configmaps"), configMap("c", {}, { ownerReferences: two }));
    await api.post(
      api.core("configmaps"),
      configMap("c", {}, { ownerReferences: [{ ...reference, apiVersion: "a/b/c" }] }),
    );
    await api.post(
      api.core("configmaps"),
      configMap("c", {}, { ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "e", uid: "1" }] }),
    );
  },
  "a duplicate owner reference": async (api) => {
    const reference = await createOwner(api, "owner");
    await api.post(api.core("configmaps"), configMap("c", {}, { ownerReferences: [reference, reference] }));
  },
  "an orphaned object keeps its other owner": async (api) => {
    const owners = [await createOwner(api, "owner"), await createOwner(api, "other")];
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: owners }));
    await api.delete(api.core("configmaps/owner"), { ...OPTIONS, propagationPolicy: "Orphan" });
    await api.untilStatus(api.core("configmaps/owner"), 404);
    await api.get(api.core("configmaps/owned"));
    await api.quietly("DELETE", api.core("configmaps/other"), { ...OPTIONS, propagationPolicy: "Background" });
    await api.untilStatus(api.core("configmaps/owned"), 404);
  },
  "a custom object owns a ConfigMap": async (api) => {
    const { body } = await api.quietly("POST", api.widgets(), widget("w"));
    const reference = { apiVersion: `${GROUP}/v1`, kind: "Widget", name: "w", uid: body.metadata.uid };
    await api.quietly("POST", api.core("configmaps"), configMap("owned", {}, { ownerReferences: [reference] }));
    await api.get(api.core("configmaps/owned"));
  },
});

const NAMESPACE = { apiVersion: "v1", kind: "Namespace" };

// Conditions of a namespace whose deletion is blocked by an object with a finalizer.
const BLOCKED_CONDITIONS: readonly string[] = ["NamespaceContentRemaining", "NamespaceFinalizersRemaining"];

/** Creation and deletion of namespaces. */
export const namespaces = area("namespaces", {
  "a created namespace is active, with its finalizer and its name as a label": async (api) => {
    await api.post("/api/v1/namespaces", { ...NAMESPACE, metadata: { name: `${api.namespace}-n` } });
    await api.post("/api/v1/namespaces", { ...NAMESPACE, metadata: { name: "Not_A_Name" } });
    await api.post("/api/v1/namespaces", { ...NAMESPACE, metadata: { generateName: `${api.namespace}-` } });
  },
  "the name label of a namespace is restored": async (api) => {
    await api.merge(`/api/v1/namespaces/${api.namespace}`, {
      metadata: { labels: { "kubernetes.io/metadata.name": "x", a: "b" } },
    });
    await api.merge(`/api/v1/namespaces/${api.namespace}`, { metadata: { labels: null } });
  },
  "a create in a missing namespace is rejected": async (api) => {
    await api.post("/api/v1/namespaces/none/configmaps", configMap("c"));
    await api.post(`/apis/${GROUP}/v1/namespaces/none/widgets`, widget("w"));
    await api.get("/api/v1/namespaces/none/configmaps");
    await api.delete("/api/v1/namespaces/none");
  },
  "a create in a terminating namespace is rejected": async (api) => {
    const blocking = configMap("c", {}, { finalizers: ["example.com/a"] });
    await api.quietly("POST", api.core("configmaps"), blocking);
    await api.delete(`/api/v1/namespaces/${api.namespace}`);
    const path = `/api/v1/namespaces/${api.namespace}`;
    type Condition = { type: string; status: string };
    await api.untilAnswer(
      path,
      // If another case deletes its kind at this moment, the conditions contain a temporary
      // failure.
      ({ body: { status: { conditions = [] } } }) =>
        conditions.some(({ type }: Condition) => type === "NamespaceFinalizersRemaining") &&
        conditions.every(({ type, status }: Condition) => (status === "True") === BLOCKED_CONDITIONS.includes(type)),
    );
    await api.get(path);
    await api.post(api.core("configmaps"), configMap("d"));
    await api.apply(api.core("configmaps/d?fieldManager=m"), configMap("d"));
    await api.merge(api.core("configmaps/c"), { data: { a: "1" } });
    await api.delete(`/api/v1/namespaces/${api.namespace}`);
    await api.quietly("PATCH", api.core("configmaps/c"), { metadata: { finalizers: null } }, {
      contentType: "application/merge-patch+json",
    });
    await api.untilStatus(`/api/v1/namespaces/${api.namespace}`, 404);
  },
  "namespaces that cannot be deleted": async (api) => {
    for (const name of ["default", "kube-system", "kube-public"]) await api.delete(`/api/v1/namespaces/${name}`);
  },
  "deleting a namespace deletes custom objects": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.quietly("DELETE", `/api/v1/namespaces/${api.namespace}`);
    await api.untilStatus(`/api/v1/namespaces/${api.namespace}`, 404);
    await api.get(api.widgets("/w"));
    await api.get(api.widgets());
  },
  "a namespace with a finalizer in its spec": async (api) => {
    const path = `/api/v1/namespaces/${api.namespace}`;
    const { body } = await api.quietly("GET", path);
    await api.put(`${path}/finalize`, { ...body, spec: { finalizers: ["kubernetes", "example.com/a"] } });
    await api.quietly("DELETE", path);
    await api.untilAnswer(path, ({ body }) => body.spec.finalizers?.length === 1);
    const { body: namespace } = await api.quietly("GET", path);
    api.note("finalizers", namespace.spec);
    await api.quietly("PUT", `${path}/finalize`, { ...namespace, spec: {} });
    await api.untilStatus(path, 404);
  },
  "a namespace with a finalizer in its metadata": async (api) => {
    const path = `/api/v1/namespaces/${api.namespace}`;
    await api.merge(path, { metadata: { finalizers: ["example.com/a"] } });
    await api.quietly("DELETE", path);
    await api.untilAnswer(path, ({ body }) => (body.spec.finalizers ?? []).length === 0);
    const { body } = await api.quietly("GET", path);
    api.note("phase", { phase: body.status.phase, spec: body.spec, finalizers: body.metadata.finalizers });
    await api.quietly("PATCH", path, { metadata: { finalizers: null } }, {
      contentType: "application/merge-patch+json",
    });
    await api.untilStatus(path, 404);
  },
  "namespaces cannot be deleted as a collection": async (api) => {
    await api.delete("/api/v1/namespaces");
  },
});
