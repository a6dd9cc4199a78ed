import { area } from "../contract.ts";

const LABELS = { app: "a" };
const template = { metadata: { labels: LABELS }, spec: { containers: [{ name: "main", image: "a:1" }] } };

/** Defaults of built-in kinds. */
export const defaults = area("defaults", {
  "the selector of a replication controller": async (api) => {
    const controller = (name: string, spec: object) => ({
      apiVersion: "v1",
      kind: "ReplicationController",
      metadata: { name },
      spec: { template, ...spec },
    });
    await api.post(api.core("replicationcontrollers"), controller("a", {}));
    await api.post(api.core("replicationcontrollers"), controller("b", { selector: { ...LABELS }, replicas: 0 }));
    await api.merge(api.core("replicationcontrollers/a"), { spec: { replicas: 3 } });
  },
  "a LimitRange": async (api) => {
    const range = (name: string, limit: object) => ({
      apiVersion: "v1",
      kind: "LimitRange",
      metadata: { name },
      spec: { limits: [limit] },
    });
    await api.post(
      api.core("limitranges"),
      range("a", { type: "Container", max: { cpu: "2" }, min: { memory: "1Mi" } }),
    );
    await api.post(
      api.core("limitranges"),
      range("b", { type: "Container", default: { cpu: "1" }, max: { cpu: "2" } }),
    );
    await api.post(api.core("limitranges"), range("c", { type: "Pod", max: { cpu: "2" } }));
  },
  "ports of a pod with hostNetwork": async (api) => {
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "runner" } };
    await api.quietly("POST", api.core("serviceaccounts"), account);
    await api.post(api.core("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: {
        hostNetwork: true,
        serviceAccountName: "runner",
        automountServiceAccountToken: false,
        containers: [{ name: "main", image: "a:1", ports: [{ containerPort: 80 }] }],
      },
    });
  },
  "templateGeneration of a DaemonSet": async (api) => {
    const path = `/apis/apps/v1/namespaces/${api.namespace}/daemonsets`;
    const set = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "a" },
      spec: { selector: { matchLabels: LABELS }, template },
    };
    await api.post(path, set);
    await api.merge(`${path}/a`, { metadata: { labels: { x: "y" } } });
    await api.merge(`${path}/a`, { spec: { template: { metadata: { annotations: { a: "b" } } } } });
    await api.apply(`${path}/a?fieldManager=me&force=true`, set);
    await api.apply(`${path}/b?fieldManager=me`, { ...set, metadata: { name: "b" } });
  },
});
