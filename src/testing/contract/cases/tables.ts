/** Tables of built-in kinds, wide columns included, as `kubectl get` shows them. */
import { area, type Case } from "../contract.ts";
import type { Recorder } from "../recorder.ts";
import { configMap, widget } from "../widget.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
const LONG_AGO = "2020-05-05T05:05:05Z";

interface Shown {
  /** Group and version; `v1` for the core group. */
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isClusterWide?: boolean;
  /** Objects without what all of them have; `status` is written apart. */
  readonly objects: readonly Record<string, unknown>[];
}

/** Makes objects, writes their statuses, and looks at their table. */
async function showTable(api: Recorder, { version, kind, plural, isClusterWide, objects }: Shown): Promise<void> {
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
  // What lies across all namespaces would be seen by others.
  if (!isClusterWide) return;
  for (const i of objects.keys()) await api.quietly("DELETE", `${path}/${api.namespace}-${i}`);
}

const container = { name: "a", image: "x" };
const pod = { spec: { containers: [container, { name: "b", image: "y:1" }] } };
const template = { metadata: { labels: { app: "d" } }, spec: pod.spec };
const selector = {
  matchLabels: { app: "d" },
};
const SELECTIVE = {
  matchLabels: { z: "1", app: "d" },
  matchExpressions: [
    { key: "tier", operator: "In", values: ["b", "a"] },
    { key: "old", operator: "DoesNotExist" },
    { key: "env", operator: "NotIn", values: ["x"] },
    { key: "new", operator: "Exists" },
  ],
};
const containerStatus = (name: string, rest: Record<string, unknown>) => ({
  name,
  image: "x",
  imageID: "",
  ready: false,
  restartCount: 0,
  ...rest,
});
const ended = (rest: Record<string, unknown>) => ({ terminated: { exitCode: 0, ...rest } });

const SHOWN: Readonly<Record<string, Shown>> = {
  "pods that run, wait and end": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      pod,
      {
        ...pod,
        status: {
          phase: "Running",
          podIP: "10.1.1.1",
          podIPs: [{ ip: "10.1.1.1" }],
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [
            containerStatus("a", { ready: true, state: { running: { startedAt: LONG_AGO } } }),
            containerStatus("b", { restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } }),
          ],
        },
      },
      { ...pod, status: { phase: "Succeeded" } },
      { ...pod, status: { phase: "Failed", reason: "Evicted" } },
    ],
  },
  "pods whose containers restarted and ended": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      {
        ...pod,
        status: {
          phase: "Running",
          containerStatuses: [
            containerStatus("a", {
              restartCount: 2,
              state: ended({ exitCode: 3 }),
              lastState: ended({ exitCode: 1, finishedAt: LONG_AGO }),
            }),
            containerStatus("b", { state: ended({ reason: "Completed" }) }),
          ],
        },
      },
      {
        ...pod,
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [
            containerStatus("a", { state: ended({ reason: "Completed" }) }),
            containerStatus("b", { ready: true, state: { running: {} } }),
          ],
        },
      },
      {
        ...pod,
        status: {
          phase: "Running",
          containerStatuses: [
            containerStatus("a", { state: ended({ reason: "Completed" }) }),
            containerStatus("b", { ready: true, state: { running: {} } }),
          ],
        },
      },
      {
        ...pod,
        status: { phase: "Running", containerStatuses: [containerStatus("a", { state: ended({ signal: 9 }) })] },
      },
    ],
  },
  "pods that initialise": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      { state: { running: {} } },
      { state: { waiting: { reason: "PodInitializing" } } },
      { state: { waiting: { reason: "ImagePullBackOff" } } },
      { state: ended({ exitCode: 2 }) },
      { state: ended({ exitCode: 2, signal: 11 }) },
      { state: ended({ exitCode: 1, reason: "Error" }), restartCount: 4 },
      { state: ended({}) },
    ].map((status) => ({
      spec: { ...pod.spec, initContainers: [{ name: "i", image: "x" }, { name: "j", image: "y" }] },
      status: { phase: "Pending", initContainerStatuses: [containerStatus("i", status)] },
    })),
  },
  "pods with sidecars and gates": {
    version: "v1",
    kind: "Pod",
    plural: "pods",
    objects: [
      {
        spec: {
          ...pod.spec,
          nodeName: "n1",
          initContainers: [{ name: "side", image: "x", restartPolicy: "Always" }],
          readinessGates: [{ conditionType: "example.com/a" }, { conditionType: "example.com/b" }],
        },
        status: {
          phase: "Running",
          conditions: [{ type: "example.com/a", status: "True" }],
          initContainerStatuses: [
            containerStatus("side", { ready: true, started: true, restartCount: 1, state: { running: {} } }),
          ],
          containerStatuses: [containerStatus("a", { ready: true, state: { running: {} } })],
        },
      },
      {
        spec: { ...pod.spec, schedulingGates: [{ name: "example.com/g" }] },
        status: {
          phase: "Pending",
          conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
        },
      },
    ],
  },
  "deployments": {
    version: "apps/v1",
    kind: "Deployment",
    plural: "deployments",
    objects: [
      { spec: { replicas: 3, selector, template } },
      {
        spec: { selector, template },
        status: { replicas: 2, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      },
      {
        spec: {
          selector: SELECTIVE,
          template: { ...template, metadata: { labels: { app: "d", z: "1", tier: "a", new: "" } } },
        },
      },
    ],
  },
  "replica sets": {
    version: "apps/v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    objects: [{ spec: { replicas: 2, selector, template }, status: { replicas: 2, readyReplicas: 1 } }],
  },
  "stateful sets": {
    version: "apps/v1",
    kind: "StatefulSet",
    plural: "statefulsets",
    objects: [{
      spec: { serviceName: "s", replicas: 2, selector, template },
      status: { replicas: 2, readyReplicas: 1 },
    }],
  },
  "replication controllers": {
    version: "v1",
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    objects: [{ spec: { replicas: 2, selector: { app: "d" }, template } }],
  },
  "pod templates": { version: "v1", kind: "PodTemplate", plural: "podtemplates", objects: [{ template }] },
  "controller revisions": {
    version: "apps/v1",
    kind: "ControllerRevision",
    plural: "controllerrevisions",
    objects: [{ revision: 3, data: { a: 1 } }],
  },
  "jobs": {
    version: "batch/v1",
    kind: "Job",
    plural: "jobs",
    objects: [
      { spec: { template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
      { spec: { completions: 3, parallelism: 2, template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
      { spec: { suspend: true, template: { spec: { ...pod.spec, restartPolicy: "Never" } } } },
    ],
  },
  "cron jobs": {
    version: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    objects: [
      { spec: { schedule: "* * * * *" } },
      { spec: { schedule: "@daily", suspend: true, timeZone: "Etc/UTC" }, status: { lastScheduleTime: LONG_AGO } },
    ].map(({ spec, ...rest }) => ({
      spec: { ...spec, jobTemplate: { spec: { template: { spec: { ...pod.spec, restartPolicy: "Never" } } } } },
      ...rest,
    })),
  },
  "services": {
    version: "v1",
    kind: "Service",
    plural: "services",
    objects: [
      { spec: { clusterIP: "None", selector: { b: "2", a: "1" }, ports: [{ port: 80 }] } },
      { spec: { clusterIP: "None", selector: { a: "1" }, externalIPs: ["1.2.3.4", "1.2.3.5"] } },
      { spec: { type: "ExternalName", externalName: "example.com" } },
      {
        spec: {
          clusterIP: "None",
          ports: [{ name: "a", port: 80 }, { name: "b", port: 53, protocol: "UDP" }],
        },
      },
    ],
  },
  "endpoints": {
    version: "v1",
    kind: "Endpoints",
    plural: "endpoints",
    objects: [
      {},
      {
        subsets: [{
          addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }],
          ports: [{ name: "a", port: 80 }, { name: "b", port: 81 }],
        }],
      },
      { subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] },
    ],
  },
  "endpoint slices": {
    version: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    plural: "endpointslices",
    objects: [
      { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.9"] }], ports: [{ port: 80 }] },
      {
        addressType: "IPv4",
        endpoints: [{ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"] }, { addresses: ["10.0.0.3"] }, {
          addresses: ["10.0.0.4"],
        }],
        ports: [{ name: "a", port: 80 }, { name: "b" }],
      },
    ],
  },
  "ingresses": {
    version: "networking.k8s.io/v1",
    kind: "Ingress",
    plural: "ingresses",
    objects: [
      { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
      {
        spec: {
          ingressClassName: "c",
          tls: [{ secretName: "t" }],
          rules: ["a", "b", "c", "d"].map((host) => ({ host: `${host}.example.com` })),
        },
        status: { loadBalancer: { ingress: [{ ip: "10.0.0.2" }, { hostname: "lb.example.com" }] } },
      },
    ],
  },
  "ingress classes": {
    version: "networking.k8s.io/v1",
    kind: "IngressClass",
    plural: "ingressclasses",
    isClusterWide: true,
    objects: [
      { spec: { controller: "example.com/a" } },
      {
        metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
        spec: { controller: "example.com/a", parameters: { apiGroup: "k.example.com", kind: "P", name: "p" } },
      },
    ],
  },
  "network policies": {
    version: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    plural: "networkpolicies",
    objects: [{ spec: { podSelector: {} } }, { spec: { podSelector: SELECTIVE } }],
  },
  "persistent volumes": {
    version: "v1",
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    isClusterWide: true,
    objects: [{
      spec: {
        capacity: { storage: "1024Mi" },
        accessModes: ["ReadWriteMany", "ReadWriteOnce"],
        hostPath: { path: "/data" },
        storageClassName: "fast",
        claimRef: { namespace: "n", name: "c" },
      },
    }],
  },
  "claims of volumes": {
    version: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    objects: [
      { spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
      {
        spec: {
          accessModes: ["ReadWriteOnce"],
          volumeName: "v",
          storageClassName: "fast",
          resources: { requests: { storage: "1Gi" } },
        },
        status: { phase: "Bound", capacity: { storage: "2Gi" }, accessModes: ["ReadWriteOnce"] },
      },
    ],
  },
  "storage classes": {
    version: "storage.k8s.io/v1",
    kind: "StorageClass",
    plural: "storageclasses",
    isClusterWide: true,
    objects: [
      { provisioner: "example.com/p" },
      {
        metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
        provisioner: "example.com/p",
        reclaimPolicy: "Retain",
        volumeBindingMode: "WaitForFirstConsumer",
        allowVolumeExpansion: true,
      },
    ],
  },
  "drivers of volumes": {
    version: "storage.k8s.io/v1",
    kind: "CSIDriver",
    plural: "csidrivers",
    isClusterWide: true,
    objects: [{ spec: {} }, { spec: { attachRequired: false, tokenRequests: [{ audience: "a" }] } }],
  },
  "nodes": {
    version: "v1",
    kind: "Node",
    plural: "nodes",
    isClusterWide: true,
    objects: [
      {},
      {
        metadata: { labels: { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/db": "" } },
        spec: { unschedulable: true },
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          addresses: [{ type: "InternalIP", address: "10.0.0.1" }, { type: "ExternalIP", address: "1.2.3.4" }],
          nodeInfo: {
            kubeletVersion: "v1.36.0",
            osImage: "Linux",
            kernelVersion: "6.1",
            containerRuntimeVersion: "containerd://2",
            architecture: "amd64",
          },
        },
      },
      { status: { conditions: [{ type: "Ready", status: "False" }] } },
    ],
  },
  "events": {
    version: "v1",
    kind: "Event",
    plural: "events",
    objects: [
      { type: "Normal", reason: "Made", message: " a message\n", source: { component: "c", host: "h" }, count: 3 },
      { type: "Warning", reason: "Failed", firstTimestamp: LONG_AGO, lastTimestamp: LONG_AGO },
    ].map((each) => ({
      involvedObject: { kind: "Pod", name: "p", fieldPath: "spec.x", namespace: "$namespace" },
      ...each,
    })),
  },
  "quotas": {
    version: "v1",
    kind: "ResourceQuota",
    plural: "resourcequotas",
    objects: [{
      spec: { hard: { pods: "3", "limits.cpu": "2", cpu: "1" } },
      status: { hard: { pods: "3", "limits.cpu": "2", cpu: "1" }, used: { pods: "1" } },
    }],
  },
  "limits": { version: "v1", kind: "LimitRange", plural: "limitranges", objects: [{ spec: { limits: [] } }] },
  "secrets": {
    version: "v1",
    kind: "Secret",
    plural: "secrets",
    objects: [{ stringData: { a: "1", b: "2" } }, { type: "example.com/t" }],
  },
  "service accounts": { version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", objects: [{}] },
  "leases": {
    version: "coordination.k8s.io/v1",
    kind: "Lease",
    plural: "leases",
    objects: [{ spec: {} }, { spec: { holderIdentity: "me" } }],
  },
  "roles and bindings": {
    version: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    plural: "rolebindings",
    objects: [{
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [
        { kind: "User", name: "u", apiGroup: "rbac.authorization.k8s.io" },
        { kind: "User", name: "w", apiGroup: "rbac.authorization.k8s.io" },
        { kind: "Group", name: "g", apiGroup: "rbac.authorization.k8s.io" },
        { kind: "ServiceAccount", name: "s", namespace: "n" },
      ],
    }],
  },
  "autoscalers": {
    version: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    plural: "horizontalpodautoscalers",
    objects: [
      { spec: { scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" }, maxReplicas: 3 } },
      {
        spec: {
          scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
          minReplicas: 2,
          maxReplicas: 5,
          metrics: [
            { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } },
            { type: "Pods", pods: { metric: { name: "q" }, target: { type: "AverageValue", averageValue: "5" } } },
            { type: "External", external: { metric: { name: "x" }, target: { type: "Value", value: "100" } } },
          ],
        },
      },
    ],
  },
  "budgets": {
    version: "policy/v1",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    objects: [{ spec: { minAvailable: 1, selector } }, { spec: { maxUnavailable: "50%", selector } }],
  },
  "priority classes": {
    version: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    plural: "priorityclasses",
    isClusterWide: true,
    objects: [{ value: 7 }, { value: 8, preemptionPolicy: "Never" }],
  },
  "runtime classes": {
    version: "node.k8s.io/v1",
    kind: "RuntimeClass",
    plural: "runtimeclasses",
    isClusterWide: true,
    objects: [{ handler: "h" }],
  },
};

const ofKinds: Case[] = area(
  "tables",
  Object.fromEntries(Object.entries(SHOWN).map(([name, shown]) => [name, (api: Recorder) => showTable(api, shown)])),
);

/** Tables at large. */
const atLarge: Case[] = area("tables", {
  "rows carry nothing, metadata or all": async (api) => {
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
  "a form of a table that there is not": async (api) => {
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
