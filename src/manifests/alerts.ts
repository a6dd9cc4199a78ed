/** Alert rules of an operator, made from the list of its metrics. */
import { METRICS } from "../base/metric_list.ts";

/** An alert, as a rule file of Prometheus has it. */
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: "warning" | "critical"; readonly operator: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** What an operator has, of which alerts may tell. */
export interface Alerting {
  readonly name: string;
  readonly hasControllers: boolean;
  readonly isElected: boolean;
  readonly hasWebhooks: boolean;
}

type Key = keyof typeof METRICS;

/** An alert before it is an operator's. */
interface Rule {
  readonly alert: string;
  readonly severity: "warning" | "critical";
  readonly for: string;
  /** The expression; `of` writes the series of a metric. */
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
    summary: "No process of the operator is seen",
    description: "For five minutes Prometheus read no metric of it: it does not run, or cannot be reached.",
  },
  {
    alert: "OperatorReconcilesFail",
    severity: "warning",
    for: "15m",
    // A failing object is tried less and less often: of few runs one in ten is much.
    expr: (of) =>
      `sum by (controller) (rate(${of("errors")}[10m])) / sum by (controller) (rate(${of("reconciles")}[10m])) > 0.1`,
    summary: "Controller {{ $labels.controller }} fails",
    description:
      "{{ $value | humanizePercentage }} of its runs ended with an error. The log says which, by reconcileID.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorReconcilePanics",
    severity: "warning",
    for: "0m",
    expr: (of) => `sum by (controller) (increase(${of("panics")}[15m])) > 0`,
    summary: "Controller {{ $labels.controller }} has a mistake in its code",
    description: "A run ended with an error of the language, such as a property of undefined. The log has its stack.",
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
    alert: "OperatorRunTakesLong",
    severity: "warning",
    for: "5m",
    expr: (of) => `max by (controller) (${of("longest")}) > 600`,
    summary: "A run of controller {{ $labels.controller }} does not end",
    description: "It goes on for {{ $value | humanizeDuration }}: give the controller a timeout, and heed the signal.",
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
      "One in ten was due for more than {{ $value | humanizeDuration }} before its run: runs are too slow, or too few go on at once.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorLacksRbacPermission",
    severity: "critical",
    for: "5m",
    expr: (of) => `max by (controller) (${of("missingRbac")}) == 1`,
    summary: "Controller {{ $labels.controller }} waits for an RBAC permission",
    description: "It does nothing until the permission is granted. /readyz and the log name it.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorWatchStale",
    severity: "critical",
    for: "5m",
    // A live watch is heard of once a minute: a bookmark comes where nothing happens.
    expr: (of) => `max by (kind) (${of("staleness")}) > 180`,
    summary: "The watch of {{ $labels.kind }} is silent",
    description: "Nothing was heard of it for {{ $value | humanizeDuration }}: what it shows is old.",
    needs: "hasControllers",
  },
  {
    alert: "OperatorWithoutLeader",
    severity: "critical",
    for: "2m",
    expr: (of) => `sum by (namespace) (${of("leading")}) == 0`,
    summary: "No process of the operator leads",
    description: "All stand by, so nothing is reconciled: look at the Lease, and at the right to write it.",
    needs: "isElected",
  },
  {
    alert: "OperatorWithTwoLeaders",
    severity: "critical",
    for: "1m",
    // Processes are not read at the same moment: a handover may look like two for one interval.
    // Installed in two namespaces it has a leader in each.
    expr: (of) => `sum by (namespace) (${of("leading")}) > 1`,
    summary: "{{ $value }} processes of the operator lead",
    description: "Each Lease has one leader: processes with Leases of different names or namespaces work at once.",
    needs: "isElected",
  },
  {
    alert: "OperatorApiServerFails",
    severity: "warning",
    for: "10m",
    expr: (of) =>
      `sum(rate(${of("requests", 'code=~"5..|429|<error>"')}[5m])) / sum(rate(${of("requests")}[5m])) > 0.1`,
    summary: "The API server does not answer the operator as it should",
    description: "{{ $value | humanizePercentage }} of the requests failed on its side, were put off, or not answered.",
  },
  {
    alert: "OperatorStrayErrors",
    severity: "warning",
    for: "0m",
    expr: (of) => `sum(increase(${of("strayErrors")}[15m])) > 0`,
    summary: "Errors in the operator's code that no run caught",
    description:
      "A promise is not awaited, or a timer throws. The log has its stack, and where Deno knows it the object.",
  },
  {
    alert: "OperatorEventLoopLate",
    severity: "warning",
    for: "5m",
    expr: (of) => `max(${of("loopLag")}) > 1`,
    summary: "The operator computes for too long",
    description: "Its event loop is {{ $value | humanizeDuration }} late: put what computes into a thread, by offload.",
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
      "{{ $value | humanizePercentage }} of its calls failed: by its failure policy the API server may refuse.",
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
      "One call in a hundred takes more than {{ $value | humanizeDuration }}, and whoever writes waits for it.",
    needs: "hasWebhooks",
  },
  {
    alert: "OperatorCertificateExpires",
    severity: "critical",
    for: "30m",
    expr: (of) => `min by (certificate) (${of("certificateExpiry")}) < ${7 * 24 * 3600}`,
    summary: "A certificate of the operator's webhooks is not renewed",
    description: "The {{ $labels.certificate }} is good for {{ $value | humanizeDuration }} only: the log says why.",
    needs: "hasWebhooks",
  },
];

/**
 * The alert rules of an operator.
 *
 * @param alerting What it has.
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

/** The label of series by which they are an operator's: the Service's label, as Prometheus writes it. Neither a namespace nor a prefix of an overlay changes it. */
export const OPERATOR_LABEL = "app_kubernetes_io_name";

/**
 * The series of a metric that are an operator's, as PromQL has them.
 *
 * @param operator The operator's name.
 * @param metric The metric, by what it is called in the list.
 * @param matchers What else of its labels must be so.
 */
export function series(operator: string, metric: Key, matchers: readonly string[] = []): string {
  return `${METRICS[metric].name}{${[`${OPERATOR_LABEL}="${operator}"`, ...matchers].join(",")}}`;
}
