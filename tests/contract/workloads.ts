/** Workloads with only the required fields. */
import type { Recorder } from "./recorder.ts";

const SMALLEST = { containers: [{ name: "a", image: "x" }] };

/** Returns the path of the Deployments of a case. */
export function deployments(api: Recorder): string {
  return `/apis/apps/v1/namespaces/${api.namespace}/deployments`;
}

/** Returns the Deployment `d`. */
export function deployment(
  podSpec: Record<string, unknown> = SMALLEST,
  spec: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { app: "d" } },
      template: { metadata: { labels: { app: "d" } }, spec: podSpec },
      ...spec,
    },
  };
}

/** Returns the path of the ReplicaSets of a case. */
export function replicaSets(api: Recorder): string {
  return `/apis/apps/v1/namespaces/${api.namespace}/replicasets`;
}

/** Returns the ReplicaSet `r` with zero replicas. */
export function replicaSet(): Record<string, unknown> {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "r" },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: "r" } },
      template: { metadata: { labels: { app: "r" } }, spec: SMALLEST },
    },
  };
}
