/** What lets Prometheus read an operator's metrics, tells when they are not as they should be, and shows them. */
import { type Alerting, alertsOf } from "./alerts.ts";
import { dashboardOf } from "./dashboard.ts";
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
      // By this label rules and dashboard know whose series they are.
      targetLabels: Object.keys(labelsOf(name)),
    },
  };
}

/**
 * Tells Prometheus when to raise an alarm (`monitoring.coreos.com/v1`). What is below `spec` is a rule file as Prometheus itself takes it.
 *
 * @param alerting What the operator has.
 * @param install Where it is installed.
 */
export function prometheusRule(alerting: Alerting, { namespace }: Install): Manifest {
  const { name } = alerting;
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: { groups: [{ name, rules: alertsOf(alerting) }] },
  };
}

/**
 * A dashboard in a ConfigMap, as the sidecar of Grafana's Helm chart looks for them; the file in it can be imported by hand as well.
 *
 * @param workload The operator.
 * @param install Where it is installed.
 */
export function dashboard({ name }: Workload, { namespace }: Install): Manifest {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `${name}-dashboard`, namespace, labels: { ...labelsOf(name), grafana_dashboard: "1" } },
    data: { [`${name}.json`]: dashboardOf(name) },
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
