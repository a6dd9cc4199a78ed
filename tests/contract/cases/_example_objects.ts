/**
 * Objects of many built-in kinds, with statuses as controllers write them, for tables and protobuf.
 */
import { EXAMPLE_WORKLOADS, type ExampleObjects, SELECTIVE, selector } from "./_example_workloads.ts";

export type { ExampleObjects } from "./_example_workloads.ts";

const LONG_AGO = "2020-05-05T05:05:05Z";

/** Objects by their name in reports. */
export const EXAMPLE_OBJECTS: Readonly<Record<string, ExampleObjects>> = {
  ...EXAMPLE_WORKLOADS,
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
  "persistent volume claims": {
    version: "v1",
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    objects: [
      // An empty class, because the server would fill in a default class of another case.
      { spec: { storageClassName: "", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
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
  "CSI drivers": {
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
