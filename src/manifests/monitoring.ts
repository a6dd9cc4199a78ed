/** What lets Prometheus read an operator's metrics. */
import type { Install } from "./install.ts";
import { labelsOf, type Manifest } from "./manifest.ts";
import type { Workload } from "./workload.ts";

/**
 * Tells the Prometheus Operator where the metrics are (`monitoring.coreos.com/v1`). Where they are guarded, Prometheus shows its own token.
 *
 * @param workload The operator.
 * @param install Where it is installed.
 */
export function serviceMonitor({ name, metrics }: Workload, { namespace }: Install): Manifest {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      endpoints: [{
        port: "metrics",
        path: "/metrics",
        scheme: "http",
        ...(metrics?.guarded ? { bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" } : {}),
      }],
      selector: { matchLabels: labelsOf(name) },
    },
  };
}

/**
 * The role of those who may read guarded metrics. It is bound to nobody: who scrapes is the cluster's to say.
 *
 * @param workload The operator.
 */
export function metricsReader({ name }: Workload): Manifest {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${name}-metrics-reader`, labels: labelsOf(name) },
    rules: [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }],
  };
}
