/** Workloads as they are sent, with no more in them than they must have. */
import type { Recorder } from "./recorder.ts";

const SMALLEST = { containers: [{ name: "a", image: "x" }] };

/** Where the Deployments of a case are. */
export function deployments(api: Recorder): string {
  return `/apis/apps/v1/namespaces/${api.namespace}/deployments`;
}

/** The Deployment `d`. */
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

/** Where the ReplicaSets of a case are. */
export function replicaSets(api: Recorder): string {
  return `/apis/apps/v1/namespaces/${api.namespace}/replicasets`;
}

/** The ReplicaSet `r`, of no replicas. */
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
