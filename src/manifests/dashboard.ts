/** A Grafana dashboard for an operator, with a panel for each metric of the list. */
import { type Metric, METRICS } from "../base/metric_list.ts";
import { series } from "./alerts.ts";

type Key = keyof typeof METRICS;

/** The rows of the dashboard. A test checks that no metric is missing. */
const ROWS: readonly (readonly [title: string, metrics: readonly Key[]])[] = [
  ["Reconciling", [
    "reconciles",
    "errors",
    "terminalErrors",
    "panics",
    "timeouts",
    "runSeconds",
    "active",
    "concurrency",
  ]],
  ["Queue", ["depth", "adds", "retries", "queueSeconds", "workSeconds", "unfinished", "longest"]],
  ["Delays and skipped work", [
    "missingRbac",
    "operatorPaused",
    "paused",
    "hotLoops",
    "delayedReconciles",
    "skippedWrites",
    "ownEvents",
    "events",
    "strayErrors",
  ]],
  ["API server", ["requests", "leading", "slowPaths"]],
  ["Watches", ["staleness", "restarts", "objects", "bytes"]],
  ["Webhooks", [
    "webhookRequests",
    "webhookSeconds",
    "webhooksInFlight",
    "webhookPanics",
    "conversionPanics",
    "certificateExpiry",
    "certificateRotations",
    "certificateReads",
    "certificateReadErrors",
  ]],
  ["Process", ["cpu", "memory", "heap", "loopLag", "started"]],
];

/** Matchers for the selected pods. */
const POD_MATCHERS = ['namespace="$namespace"', 'pod=~"$pod"'];
const DATASOURCE = { type: "prometheus", uid: "${datasource}" };
const PANEL = { width: 8, height: 7 };
const WIDTH = 24;

/**
 * Returns the dashboard as JSON, with one line per panel.
 *
 * @param operator The operator's name.
 */
export function dashboardOf(operator: string): string {
  const panels = panelsOf(operator).map((panel) => `    ${JSON.stringify(panel)}`).join(",\n");
  // No uid: Grafana generates one.
  const head = {
    title: `Operator ${operator}`,
    tags: ["kubernetes", "operator"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-1h", to: "now" },
    templating: { list: variables(operator) },
  };
  const fields = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{\n${fields.join("")}  "panels": [\n${panels}\n  ]\n}\n`;
}

/** Returns the keys of the metrics that are shown, each once. */
export function shownMetrics(): readonly Key[] {
  return ROWS.flatMap(([, metrics]) => metrics);
}

function panelsOf(operator: string): unknown[] {
  const panels: unknown[] = [];
  let y = 0;
  for (const [title, metrics] of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
      collapsed: false,
    });
    metrics.forEach((metric, i) => {
      const x = (i * PANEL.width) % WIDTH;
      if (i > 0 && x === 0) y += PANEL.height;
      panels.push(panelOf(operator, metric, { id: panels.length + 1, x, y }));
    });
    y += PANEL.height;
  }
  return panels;
}

function panelOf(operator: string, key: Key, { id, x, y }: { id: number; x: number; y: number }): unknown {
  const metric: Metric = METRICS[key];
  return {
    id,
    type: "timeseries",
    title: metric.help,
    description: metric.name,
    datasource: DATASOURCE,
    gridPos: { x, y, w: PANEL.width, h: PANEL.height },
    fieldConfig: { defaults: { unit: unitOf(metric), min: 0 }, overrides: [] },
    targets: queriesOf(operator, key).map(({ expr, legend }, i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
    })),
  };
}

function queriesOf(operator: string, key: Key): { readonly expr: string; readonly legend: string }[] {
  const metric: Metric = METRICS[key];
  const shown = series(operator, key, POD_MATCHERS);
  const labels = labelsShown(metric);
  const legend = labels.map((label) => `{{${label}}}`).join(" ") || "{{pod}}";
  const by = labels.length === 0 ? "pod" : labels.join(", ");
  if (key === "started") return [{ expr: `time() - ${shown}`, legend }];
  if (metric.type === "counter") return [{ expr: `sum by (${by}) (rate(${shown}[$__rate_interval]))`, legend }];
  if (metric.type === "gauge") {
    // Durations of several processes do not add up, so the panel shows the maximum.
    const aggregation = key === "certificateExpiry" ? "min" : unitOf(metric) === "s" ? "max" : "sum";
    return [{ expr: `${aggregation} by (${by}) (${shown})`, legend }];
  }
  const buckets = `sum by (${["le", ...labels].join(", ")}) (rate(${
    shown.replace("{", "_bucket{")
  }[$__rate_interval]))`;
  return [0.5, 0.99].map((share) => ({
    expr: `histogram_quantile(${share}, ${buckets})`,
    legend: `p${share * 100} ${legend}`,
  }));
}

/**
 * Labels that distinguish series. A queue has the name of its controller, so the label `name` is
 * redundant. Prometheus uses `namespace` for the namespace of the pod.
 */
function labelsShown({ labels }: Metric): string[] {
  if (labels.includes("kind")) return ["kind"];
  return labels.filter((label) => label !== "host" && !(label === "name" && labels.includes("controller")));
}

function unitOf({ name, type }: Metric): string {
  if (name.includes("_cpu_seconds")) return "percentunit";
  if (type === "counter") return "ops";
  return /_seconds$/.test(name) ? "s" : /_bytes$/.test(name) ? "bytes" : "short";
}

/**
 * The variables above the panels. Every process of a program has the metric of the event loop's
 * delay.
 */
function variables(operator: string): unknown[] {
  const queryVariable = (name: string, matchers: readonly string[], more: object) => ({
    name,
    type: "query",
    datasource: DATASOURCE,
    query: { query: `label_values(${series(operator, "loopLag", matchers)}, ${name})`, refId: name },
    refresh: 2,
    sort: 1,
    ...more,
  });
  return [
    { name: "datasource", type: "datasource", query: "prometheus", current: {} },
    queryVariable("namespace", [], {}),
    queryVariable("pod", ['namespace="$namespace"'], {
      multi: true,
      includeAll: true,
      current: { text: "All", value: "$__all" },
    }),
  ];
}
