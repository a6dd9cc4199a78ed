/** Alert rules of an operator, derived from the list of metrics. */
import { METRICS } from "../base/metric_list.ts";

/** An alert, in the form of a Prometheus rule file. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: "warning" | "critical"; readonly operator: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** The parts of an operator that decide which alerts it has. */
export interface Alerting {
  readonly name: string;
  readonly hasControllers: boolean;
  readonly isElected: boolean;
  readonly hasWebhooks: boolean;
}

type Key = keyof typeof METRICS;

/** An alert rule for any operator. */
interface Rule {
  readonly alert: string;
  readonly severity: "warning" | "critical";
  readonly for: string;
  /** Returns the expression; `of` returns the series of a metric. */
  expr(of: (metric: Key, ...matchers: string[]) => string): string;
  readonly summary: string;
  readonly description: string;
  readonly needs?: keyof Omit<Alerting, "name">;
}

const RULES: readonly Rule[] = [
  {
    alert: "OperatorDown",
    severity: "critical",
    for: "5m",
    expr: (of) => `absent(${of("loopLag")})`,
    summary: "The operator does not run",
    description: "Prometheus has read no metric for five minutes. The operator is down or cannot be reached.",
  },
  {
    alert: "OperatorReconcilesFail",
    severity: "warning",
    for: "15m",
    // The delay between retries of a failing object grows, so 10 % failures are already many.
    expr: (of) =>
      `sum by (controller) (rate(${of("errors")}[10m])) / sum by (controller) (rate(${of("reconciles")}[10m])) > 0.1`,
    summary: "Reconciles of controller {{ $labels.controller }} fail",
    description:
      "{{ $value | humanizePercentage }} of its reconciles fail. Find the errors in the log (Reconcile failed).",
    needs: "hasControllers",
  },
  {
    alert: "OperatorReconcilePanics",
    severity: "warning",
    for: "0m",
    expr: (of) => `sum by (controller) (increase(${of("panics")}[15m])) > 0`,
    summary: "Controller {{ $labels.controller }} has a programming error",
    description: "A reconcile failed with a TypeError or a similar error. The log has its stack.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorHotLoop",
    severity: "warning",
    for: "5m",
    expr: (of) => `sum by (controller, kind, field, manager, other_manager) (${of("hotLoops")}) > 0`,
    summary: "Controller {{ $labels.controller }} reconciles {{ $value }} objects in a hot loop",
    description:
      "{{ if $labels.other_manager }}Field managers {{ $labels.manager }} and {{ $labels.other_manager }} change {{ $labels.field }} of {{ $labels.kind }} back and forth. {{ else if $labels.field }}Each reconcile sets {{ $labels.field }} of {{ $labels.kind }}. {{ end }}The log line, the Event and the condition Reconciling with reason HotLoop name the object.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorReconcileTakesLong",
    severity: "warning",
    for: "5m",
    expr: (of) => `max by (controller) (${of("longest")}) > 600`,
    summary: "A reconcile of controller {{ $labels.controller }} does not end",
    description:
      "It has been running for {{ $value | humanizeDuration }}. Set a timeout, and pass the signal to what the reconcile waits for.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorObjectsWait",
    severity: "warning",
    for: "15m",
    expr: (of) =>
      `histogram_quantile(0.9, sum by (controller, le) (rate(${
        of("queueSeconds").replace("{", "_bucket{")
      }[10m]))) > 60`,
    summary: "Objects of controller {{ $labels.controller }} wait",
    description:
      "One object in ten waits more than {{ $value | humanizeDuration }} for its reconcile. Make reconciles faster, or increase concurrency.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorLacksRbacPermission",
    severity: "critical",
    for: "5m",
    expr: (of) => `max by (controller) (${of("missingRbac")}) == 1`,
    summary: "Controller {{ $labels.controller }} waits for an RBAC permission",
    description: "It reconciles no object until the permission is granted. /readyz and the log name the permission.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorWatchStale",
    severity: "critical",
    for: "5m",
    // A working watch receives a bookmark every minute, even if no object changes.
    expr: (of) => `max by (kind) (${of("staleness")}) > 180`,
    summary: "The watch on {{ $labels.kind }} receives no events",
    description:
      "It received neither events nor bookmarks for {{ $value | humanizeDuration }}. Its cache is out of date.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorWithoutLeader",
    severity: "critical",
    for: "2m",
    expr: (of) => `sum by (namespace) (${of("leading")}) == 0`,
    summary: "No process of the operator leads",
    description:
      "All processes stand by, so no object is reconciled. Check the Lease, and the RBAC permission to write it.",
    needs: "isElected",
  },
  {
    alert: "OperatorWithTwoLeaders",
    severity: "critical",
    for: "1m",
    // Prometheus does not scrape all processes at the same time, so a handover can look like two
    // leaders for one interval.
    // An operator that is installed in two namespaces has a leader in each.
    expr: (of) => `sum by (namespace) (${of("leading")}) > 1`,
    summary: "{{ $value }} processes of the operator lead",
    description: "A Lease has only one holder, so the processes use Leases with different names or namespaces.",
    needs: "isElected",
  },
  {
    alert: "OperatorApiServerFails",
    severity: "warning",
    for: "10m",
    expr: (of) =>
      `sum(rate(${of("requests", 'code=~"5..|429|<error>"')}[5m])) / sum(rate(${of("requests")}[5m])) > 0.1`,
    summary: "Requests to the API server fail",
    description:
      "{{ $value | humanizePercentage }} of the requests ended with a server error, 429 or without a response.",
  },
  {
    alert: "OperatorStrayErrors",
    severity: "warning",
    for: "0m",
    expr: (of) => `sum(increase(${of("strayErrors")}[15m])) > 0`,
    summary: "The operator's code has uncaught errors",
    description:
      "A promise is not awaited, or a timer throws. The log has the stack and, if Deno knows it, the object.",
  },
  {
    alert: "OperatorEventLoopLate",
    severity: "warning",
    for: "5m",
    expr: (of) => `max(${of("loopLag")}) > 1`,
    summary: "The operator's event loop is blocked",
    description: "It is {{ $value | humanizeDuration }} late. Move long computations into a thread with offload.",
  },
  {
    alert: "OperatorWebhookFails",
    severity: "critical",
    for: "5m",
    expr: (of) =>
      `sum by (webhook) (rate(${of("webhookRequests", 'code=~"5.."')}[5m])) / sum by (webhook) (rate(${
        of("webhookRequests")
      }[5m])) > 0.05`,
    summary: "Webhook {{ $labels.webhook }} fails",
    description:
      "{{ $value | humanizePercentage }} of its calls fail. With failure policy Fail, the API server rejects these requests.",
    needs: "hasWebhooks",
  },
  {
    alert: "OperatorWebhookSlow",
    severity: "warning",
    for: "10m",
    expr: (of) =>
      `histogram_quantile(0.99, sum by (webhook, le) (rate(${of("webhookSeconds").replace("{", "_bucket{")}[5m]))) > 2`,
    summary: "Webhook {{ $labels.webhook }} is slow",
    description:
      "One call in a hundred takes more than {{ $value | humanizeDuration }}, and the client's request waits for it.",
    needs: "hasWebhooks",
  },
  {
    alert: "OperatorCertificateExpires",
    severity: "critical",
    for: "30m",
    expr: (of) => `min by (certificate) (${of("certificateExpiry")}) < ${7 * 24 * 3600}`,
    summary: "A certificate of the operator's webhooks is not renewed",
    description: "The {{ $labels.certificate }} expires in {{ $value | humanizeDuration }}. The log has the reason.",
    needs: "hasWebhooks",
  },
];

/**
 * Returns the alert rules of an operator.
 *
 * @param alerting The operator's name and parts.
 */
export function alertsOf(alerting: Alerting): Alert[] {
  const { name } = alerting;
  const of = (metric: Key, ...matchers: string[]): string => series(name, metric, matchers);
  return RULES.filter(({ needs }) => needs === undefined || alerting[needs]).map((rule) => ({
    alert: rule.alert,
    expr: rule.expr(of),
    for: rule.for,
    labels: { severity: rule.severity, operator: name },
    annotations: { summary: rule.summary, description: rule.description },
  }));
}

/**
 * The label that selects an operator's series: a label of the Service, in the spelling of
 * Prometheus. Overlays that change the namespace or add a name prefix do not change it.
 */
export const OPERATOR_LABEL = "app_kubernetes_io_name";

/**
 * Returns the PromQL selector of an operator's series of a metric.
 *
 * @param operator The operator's name.
 * @param metric The key of the metric in the list.
 * @param matchers More label matchers.
 */
export function series(operator: string, metric: Key, matchers: readonly string[] = []): string {
  return `${METRICS[metric].name}{${[`${OPERATOR_LABEL}="${operator}"`, ...matchers].join(",")}}`;
}
