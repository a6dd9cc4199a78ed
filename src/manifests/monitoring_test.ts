import assert from "node:assert/strict";
import { METRICS } from "../base/metric_list.ts";
import { alertsOf } from "./alerts.ts";
import { dashboardOf, shownMetrics } from "./dashboard.ts";
import { installOf } from "./install.ts";
import { dashboard, prometheusRule, serviceMonitor } from "./monitoring.ts";

const ALL = { name: "shop", hasControllers: true, isElected: true, hasWebhooks: true };
const WORKLOAD = { name: "shop", version: "1.0.0", health: undefined, gracefulShutdownTimeout: 0, isElected: true };

Deno.test("the dashboard has one graph for each metric, and selects only the operator's own series", () => {
  assert.deepEqual([...shownMetrics()].sort(), Object.keys(METRICS).sort());
  const { panels, title } = JSON.parse(dashboardOf("shop"));
  assert.equal(title, "Operator shop");
  const graphs = panels.filter(({ type }: { type: string }) => type === "timeseries");
  assert.deepEqual(
    graphs.map(({ description }: { description: string }) => description).sort(),
    Object.values(METRICS).map(({ name }) => name).sort(),
  );
  for (const { targets } of graphs) {
    for (const { expr } of targets) {
      assert.match(expr, /\{app_kubernetes_io_name="shop",namespace="\$namespace",pod=~"\$pod"\}/);
    }
  }
});

Deno.test("panels of the dashboard do not overlap and have unique numbers", () => {
  const { panels } = JSON.parse(dashboardOf("shop")) as {
    panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const { gridPos: { x, y, w, h } } of panels) {
    for (let row = y; row < y + h; row++) {
      for (let column = x; column < x + w; column++) {
        assert(!taken.has(`${column},${row}`) && column < 24, `${column},${row}`);
        taken.add(`${column},${row}`);
      }
    }
  }
});

Deno.test("alerts query only metrics that the operator serves, by labels of these metrics", () => {
  const byName = new Map(Object.values(METRICS).map((metric) => [metric.name as string, metric]));
  for (const { expr } of alertsOf(ALL)) {
    for (const [, name, matchers] of expr.matchAll(/([a-z_]+)\{([^}]*)\}/g)) {
      const metric = byName.get(name!) ?? byName.get(name!.replace(/_bucket$/, ""));
      assert(metric, `${name} of ${expr}`);
      const labels = [...matchers!.matchAll(/([a-z_]+)(?==)/g)].map(([label]) => label);
      assert.equal(labels.shift(), "app_kubernetes_io_name");
      for (const label of labels) assert((metric.labels as readonly string[]).includes(label), `${label} of ${name}`);
    }
  }
});

Deno.test("alerts depend on the parts of the operator", () => {
  const names = (alerting: Partial<typeof ALL>) => alertsOf({ ...ALL, ...alerting }).map(({ alert }) => alert);
  assert.equal(new Set(names({})).size, 16);
  assert(!names({ hasWebhooks: false }).some((name) => /Webhook|Certificate/.test(name)));
  assert(!names({ isElected: false }).some((name) => /Leader/.test(name)));
  assert.deepEqual(names({ hasControllers: false, isElected: false }), [
    "OperatorDown",
    "OperatorApiServerFails",
    "OperatorStrayErrors",
    "OperatorEventLoopLate",
    "OperatorWebhookFails",
    "OperatorWebhookSlow",
    "OperatorCertificateExpires",
  ]);
});

Deno.test("the ServiceMonitor adds the label by which alert rules select series", () => {
  const install = installOf({ name: "shop", version: "1.0.0" }, {});
  const { targetLabels, selector } = serviceMonitor(WORKLOAD, install).spec as {
    targetLabels: string[];
    selector: { matchLabels: Record<string, string> };
  };
  assert.deepEqual(targetLabels.map((label) => label.replaceAll(/[^a-z]/g, "_")), ["app_kubernetes_io_name"]);
  assert.deepEqual(selector.matchLabels, { "app.kubernetes.io/name": "shop" });
  assert.equal(prometheusRule(ALL, install).metadata.namespace, "shop-system");
  const { metadata, data } = dashboard(WORKLOAD, install);
  assert.deepEqual([metadata.name, metadata.labels?.grafana_dashboard], ["shop-dashboard", "1"]);
  assert.deepEqual(Object.keys(data as object), ["shop.json"]);
});
