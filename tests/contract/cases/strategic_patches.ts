/** Strategic merge patches: merging of lists, and directives. */
import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const STRATEGIC = "application/strategic-merge-patch+json";

const CONTAINERS = [
  { name: "a", image: "x", env: [{ name: "A", value: "1" }, { name: "B", value: "2" }], args: ["1", "2"] },
  { name: "b", image: "y", ports: [{ containerPort: 80, name: "http" }] },
];

/**
 * Creates a Deployment with two containers and applies patches in order. A patch changes the pod
 * spec, or the whole object if it has the key `whole`.
 */
async function patches(api: Recorder, ...given: readonly unknown[]): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${api.namespace}/deployments`;
  await api.quietly("POST", path, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", labels: { l: "1" } },
    spec: {
      selector: { matchLabels: { app: "d" } },
      template: {
        metadata: { labels: { app: "d" } },
        spec: {
          containers: CONTAINERS,
          volumes: [{ name: "v", emptyDir: {} }],
          tolerations: [{ key: "k", operator: "Exists" }],
          nodeSelector: { n: "1" },
        },
      },
    },
  });
  for (const each of given) {
    const whole = (each as { whole?: unknown }).whole;
    const body = whole ?? { spec: { template: { spec: each } } };
    await api.call("PATCH", `${path}/d`, body, { contentType: STRATEGIC });
  }
}

export const strategicPatches = area("strategic patches", {
  "a container changed by its name": (api) => patches(api, { containers: [{ name: "b", image: "z" }] }),
  "a container added": (api) => patches(api, { containers: [{ name: "c", image: "z" }] }),
  "a container deleted": (api) => patches(api, { containers: [{ $patch: "delete", name: "a" }] }),
  "all containers replaced": (api) => patches(api, { containers: [{ $patch: "replace" }, { name: "c", image: "z" }] }),
  "an order of containers": (api) => patches(api, { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] }),
  "an order with a change and an addition": (api) =>
    patches(api, {
      "$setElementOrder/containers": [{ name: "c" }, { name: "b" }, { name: "a" }],
      containers: [{ name: "c", image: "new" }, { name: "a", image: "newer" }],
    }),
  "an order that does not match": (api) =>
    patches(api, { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b", image: "z" }] }),
  "env by name": (api) =>
    patches(api, { containers: [{ name: "a", env: [{ name: "B", value: "3" }, { name: "C", value: "4" }] }] }),
  "env deleted": (api) => patches(api, { containers: [{ name: "a", env: [{ $patch: "delete", name: "A" }] }] }),
  "a value of env replaced by valueFrom": (api) =>
    patches(api, {
      containers: [{
        name: "a",
        env: [{ name: "A", value: null, valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      }],
    }),
  "ports by number": (api) =>
    patches(api, { containers: [{ name: "b", ports: [{ containerPort: 81 }, { containerPort: 80, name: "web" }] }] }),
  "arguments are replaced": (api) => patches(api, { containers: [{ name: "a", args: ["3"] }] }),
  "volumes by name": (api) =>
    patches(api, { volumes: [{ name: "w", emptyDir: {} }] }, { volumes: [{ name: "v", $patch: "delete" }] }),
  "retained keys of a volume": (api) =>
    patches(api, { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] }),
  "a volume's source without retained keys": (api) =>
    patches(api, { volumes: [{ name: "v", configMap: { name: "c" } }] }),
  "tolerations are replaced": (api) => patches(api, { tolerations: [{ key: "z", operator: "Exists" }] }),
  "a map: keys are set and removed": (api) => patches(api, { nodeSelector: { n: null, m: "2" } }),
  "a map replaced": (api) => patches(api, { nodeSelector: { $patch: "replace", m: "2" } }),
  "a map deleted": (api) => patches(api, { nodeSelector: { $patch: "delete" } }),
  "null removes a list": (api) => patches(api, { tolerations: null }, { volumes: null }),
  "labels and replicas": (api) =>
    patches(api, { whole: { metadata: { labels: { l: null, m: "1" } }, spec: { replicas: 5 } } }),
  "finalizers are a set": (api) =>
    patches(
      api,
      { whole: { metadata: { finalizers: ["example.com/a", "example.com/b"] } } },
      { whole: { metadata: { finalizers: ["example.com/c"] } } },
      { whole: { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.com/a"] } } },
      { whole: { metadata: { "$setElementOrder/finalizers": ["example.com/c", "example.com/b"] } } },
      { whole: { metadata: { finalizers: null } } },
    ),
  "an unknown directive": (api) =>
    patches(
      api,
      { containers: [{ $patch: "leap", name: "a" }] },
      { nodeSelector: { $patch: "leap" } },
      { containers: [{ $patch: "merge", name: "a", image: "m" }] },
    ),
  "an item without its key": (api) => patches(api, { containers: [{ image: "z" }] }),
  "an item to delete without its key": (api) => patches(api, { containers: [{ $patch: "delete" }] }),
  "a list that replaces an object, and vice versa": (api) =>
    patches(api, { containers: { name: "a" } }, { nodeSelector: ["x"] }, { containers: "x" }),
  "unknown fields": async (api) => {
    const path = api.core("configmaps/c");
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1" }));
    for (const how of ["Strict", "Warn", "Ignore"]) {
      await api.call("PATCH", `${path}?fieldValidation=${how}`, { other: 1 }, { contentType: STRATEGIC });
      await api.call("PATCH", `${path}?fieldValidation=${how}`, `{"data":{"b":"1","b":"2"}}`, {
        contentType: STRATEGIC,
      });
    }
  },
  "a ConfigMap's keys": async (api) => {
    const path = api.core("configmaps/c");
    await api.quietly("POST", api.core("configmaps"), configMap("c", { a: "1", b: "1" }));
    for (
      const body of [
        { data: { a: null } },
        { data: { $patch: "replace", z: "1" } },
        { data: { z: 1 } },
        {
          $patch: "delete",
        },
        "{",
        "[]",
        "3",
        "null",
      ]
    ) await api.call("PATCH", path, body, { contentType: STRATEGIC });
  },
  "owner references by uid": async (api) => {
    const owners: unknown[] = [];
    for (const name of ["x", "y"]) {
      const { body } = await api.quietly("POST", api.core("configmaps"), configMap(name));
      owners.push({ apiVersion: "v1", kind: "ConfigMap", name, uid: body.metadata.uid });
    }
    await api.quietly("POST", api.core("configmaps"), configMap("c", {}, { ownerReferences: [owners[0]] }));
    const path = api.core("configmaps/c");
    const patch = (ownerReferences: unknown) =>
      api.call("PATCH", path, { metadata: { ownerReferences } }, { contentType: STRATEGIC });
    await patch([owners[1]]);
    await patch([{ $patch: "delete", uid: (owners[0] as { uid: string }).uid }]);
    await patch([{ ...owners[1] as object, controller: true }]);
  },
  "a Service's ports": async (api) => {
    await api.quietly("POST", api.core("services"), {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { clusterIP: "None", ports: [{ name: "a", port: 80 }, { name: "b", port: 81 }], selector: { a: "1" } },
    });
    const patch = (spec: unknown) => api.call("PATCH", api.core("services/s"), { spec }, { contentType: STRATEGIC });
    await patch({ ports: [{ port: 80, targetPort: 8080 }] });
    await patch({ ports: [{ port: 82, name: "c" }] });
    await patch({ ports: [{ port: 81, $patch: "delete" }] });
    await patch({ selector: { a: null, b: "2" } });
  },
  "conditions by type, through status": async (api) => {
    await patches(api);
    const path = `/apis/apps/v1/namespaces/${api.namespace}/deployments/d/status`;
    const condition = (type: string, status: string) => ({ type, status, reason: "R" });
    for (
      const conditions of [[condition("A", "True")], [condition("B", "True")], [condition("A", "False")], [{
        type: "B",
        $patch: "delete",
      }]]
    ) await api.call("PATCH", path, { status: { conditions } }, { contentType: STRATEGIC });
  },
  "custom kinds have no strategic patch": async (api) => {
    await api.quietly("POST", api.widgets(), widget("w"));
    await api.call("PATCH", api.widgets("/w/status"), { status: {} }, { contentType: STRATEGIC });
  },
  "a patch of a missing object": (api) =>
    api.call("PATCH", api.core("configmaps/none"), { data: {} }, { contentType: STRATEGIC }).then(() => {}),
});
