/** The objects by which Prometheus and Grafana read, evaluate and display an operator's metrics. */
import { type Alerting, alertsOf } from "./alerts.ts";
import { dashboardOf } from "./dashboard.ts";
import type { Install } from "./install.ts";
import { labelsOf, type Manifest } from "./manifest.ts";
import type { Workload } from "./workload.ts";

/**
 * Returns the ServiceMonitor of the metrics (`monitoring.coreos.com/v1`). If the metrics require
 * authorization, Prometheus sends its own token.
 *
 * @param workload The operator.
 * @param install Where and how it is installed.
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
        ...(metrics?.authorization ? { bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token" } : {}),
      }],
      selector: { matchLabels: labelsOf(name) },
      // Alert rules and the dashboard select the operator's series by this label.
      targetLabels: Object.keys(labelsOf(name)),
    },
  };
}

/**
 * Returns the PrometheusRule of the alerts (`monitoring.coreos.com/v1`). Its `spec` is a Prometheus
 * rule file.
 *
 * @param alerting The operator's name and parts.
 * @param install Where and how it is installed.
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
 * Returns a ConfigMap with the dashboard, which the sidecar of Grafana's Helm chart finds. The file
 * in it can also be imported by hand.
 *
 * @param workload The operator.
 * @param install Where and how it is installed.
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
 * Returns the role that permits reading the metrics if they require authorization. It has no
 * binding, because each cluster has its own scraper.
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
