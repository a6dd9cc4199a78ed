/**
 * The initial objects of a new cluster: the Service of the API server, and the priority classes of
 * critical pods. Other modules create the namespaces and roles.
 */
import { ownedByServer } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { keyOfObject } from "../objects/key.ts";
import type { StoredObject } from "../objects/objects.ts";
import { timestamp } from "../objects/objects.ts";

const PRIORITY = "PreemptLowerPriority";

const OBJECTS = [
  {
    collection: "/services",
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
    owned: {
      "f:metadata": { "f:labels": { ".": {}, "f:component": {}, "f:provider": {} } },
      "f:spec": {
        "f:clusterIP": {},
        "f:internalTrafficPolicy": {},
        "f:ipFamilyPolicy": {},
        "f:ports": {
          ".": {},
          'k:{"port":443,"protocol":"TCP"}': {
            ".": {},
            "f:name": {},
            "f:port": {},
            "f:protocol": {},
            "f:targetPort": {},
          },
        },
        "f:sessionAffinity": {},
        "f:type": {},
      },
    },
    content: {
      spec: {
        ports: [{ name: "https", protocol: "TCP", port: 443, targetPort: 6443 }],
        clusterIP: "10.0.0.1",
        clusterIPs: ["10.0.0.1"],
        type: "ClusterIP",
        sessionAffinity: "None",
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        internalTrafficPolicy: "Cluster",
      },
      status: { loadBalancer: {} },
    },
  },
  priority("system-node-critical", 2_000_001_000, "must not be moved from their current node"),
  priority(
    "system-cluster-critical",
    2_000_000_000,
    "must run in the cluster, but can be moved to another node if necessary",
  ),
];

function priority(name: string, value: number, requirement: string) {
  return {
    collection: "scheduling.k8s.io/priorityclasses",
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name, generation: 1 },
    owned: { "f:description": {}, "f:preemptionPolicy": {}, "f:value": {} },
    content: { value, description: `Used for system critical pods that ${requirement}.`, preemptionPolicy: PRIORITY },
  };
}

/**
 * Stores the objects of a new server.
 *
 * @param core The server, with its kinds and namespaces.
 */
export function createInitialObjects(core: Core): void {
  const time = timestamp(core.clock.now());
  for (const { collection, apiVersion, kind, metadata, owned, content } of OBJECTS) {
    const managedFields = [ownedByServer(apiVersion, time, owned)];
    const object: unknown = {
      apiVersion,
      kind,
      metadata: { ...metadata, uid: core.uid(), creationTimestamp: time, managedFields },
      ...content,
    };
    core.store.put(collection, keyOfObject(object as StoredObject), object as StoredObject);
  }
}
