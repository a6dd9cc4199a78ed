import { area } from "../contract.ts";
import type { Recorder } from "../recorder.ts";

const path = ({ namespace }: Recorder, rest = "") => `/apis/apps/v1/namespaces/${namespace}/statefulsets${rest}`;

const claim = (spec: object = {}, name = "data") => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});

const set = (spec: object = {}, pod: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "a" },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: {
      metadata: { labels: { app: "a" } },
      spec: {
        containers: [{ name: "main", image: "busybox:1", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
        ...pod,
      },
    },
    volumeClaimTemplates: [claim()],
    ...spec,
  },
});

/** Stateful sets: volume claims, required and mutable fields. */
export const statefulSets = area("stateful sets", {
  "a volume claim template is a volume of the pods": async (api) => {
    await api.post(path(api), set());
    await api.post(path(api), set({ volumeClaimTemplates: [claim({}, "other")] }));
    // A volume of the same name in the pod template is ignored.
    await api.post(path(api), {
      ...set({}, { volumes: [{ name: "data" }] }),
      metadata: { name: "b" },
    });
    await api.post(path(api), { ...set({}, { hostname: "Not.One", subdomain: "Nor.This" }), metadata: { name: "c" } });
  },
  "required fields of a volume claim template": async (api) => {
    const createWithClaim = (spec: object) => api.post(path(api), set({ volumeClaimTemplates: [claim(spec)] }));
    await createWithClaim({ accessModes: [] });
    await createWithClaim({ accessModes: ["Never", "ReadWriteOnce"] });
    await createWithClaim({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] });
    await createWithClaim({ resources: {} });
    await createWithClaim({ resources: { requests: { storage: "0" } } });
    await createWithClaim({ resources: { requests: { storage: "500m" } } });
    await createWithClaim({ storageClassName: "Not_One" });
    await createWithClaim({ volumeMode: "None" });
  },
  "required fields of a stateful set": async (api) => {
    await api.post(path(api), set({ selector: {} }));
    await api.post(path(api), set({ selector: null }));
    await api.post(path(api), set({ selector: { matchLabels: { app: "b" } } }));
    await api.post(path(api), set({ serviceName: "Not.One" }));
    await api.post(path(api), set({ podManagementPolicy: "Any" }));
    await api.post(path(api), set({ updateStrategy: { type: "None" } }));
    await api.post(path(api), set({ updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } } }));
    await api.post(path(api), set({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: -1 } } }));
    await api.post(path(api), set({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Ask" } }));
    await api.post(path(api), set({ replicas: -1, minReadySeconds: -1, ordinals: { start: -1 } }));
    await api.post(path(api), set({}, { restartPolicy: "OnFailure", activeDeadlineSeconds: 5 }));
  },
  "mutable fields of a stateful set": async (api) => {
    await api.post(path(api), set());
    const change = (spec: object) => api.merge(path(api, "/a"), { spec });
    await change({ replicas: 3, minReadySeconds: 5, ordinals: { start: 1 }, revisionHistoryLimit: 2 });
    await change({ persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" } });
    await change({ template: { metadata: { annotations: { at: "1" } } } });
    await change({ volumeClaimTemplates: [claim({ resources: { requests: { storage: "2Gi" } } })] });
    // A changed volume claim template is compared by its type, not by its content.
    await change({ volumeClaimTemplates: [claim({ accessModes: [] })] });
    await change({ serviceName: "other" });
    await change({ selector: { matchLabels: { app: "b" } } });
    await change({ podManagementPolicy: "Parallel" });
  },
});

const workload = (kind: string, spec: object) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "a" },
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "main", image: "busybox:1" }] } },
    ...spec,
  },
});

/** Messages that all workloads share. */
export const workloadMessages = area("workload messages", {
  "an empty selector": async (api) => {
    for (const kind of ["Deployment", "ReplicaSet", "DaemonSet"]) {
      await api.post(
        `/apis/apps/v1/namespaces/${api.namespace}/${kind.toLowerCase()}s`,
        workload(kind, { selector: {} }),
      );
    }
  },
  "restart policies of workloads": async (api) => {
    for (const kind of ["Deployment", "ReplicaSet", "DaemonSet"]) {
      const template = {
        metadata: { labels: { app: "a" } },
        spec: { restartPolicy: "Never", activeDeadlineSeconds: 5, containers: [{ name: "main", image: "busybox:1" }] },
      };
      await api.post(
        `/apis/apps/v1/namespaces/${api.namespace}/${kind.toLowerCase()}s`,
        workload(kind, { template }),
      );
    }
  },
});
