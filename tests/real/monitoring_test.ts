/**
 * The generated alerts, metrics and dashboard in Prometheus: it loads the rules, raises each alert,
 * scrapes an operator, and answers each query.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { METRICS } from "../../src/base/metric_list.ts";
import { createApiserver } from "../../src/apiserver/mod.ts";
import { kubeconfigFor, serveApiserver } from "../../src/apiserver/serve.ts";
import { CustomResourceDefinition } from "../../src/kinds/mod.ts";
import { Client } from "../../src/kube/client.ts";
import { alertsOf } from "../../src/manifests/alerts.ts";
import { dashboardOf } from "../../src/manifests/dashboard.ts";
import { freePort } from "../fixtures/build_operator.ts";
import { Note } from "../fixtures/notes.ts";
import { startOperator } from "../fixtures/operator_process.ts";
import { NEEDS_PROMETHEUS, promtool, startPrometheus } from "./_prometheus.ts";
import { eventually } from "../eventually.ts";

const MAIN = fileURLToPath(new URL("../fixtures/operators/monitored.ts", import.meta.url));
const ALERTS = alertsOf({ name: "shop", hasControllers: true, isElected: true, hasWebhooks: true });

/** Time series with their values in promtool's notation, one value a minute. */
type Series = Readonly<Record<string, string>>;

const OPERATOR = 'app_kubernetes_io_name="shop"';
const NOTES = `${OPERATOR},controller="notes"`;

/** The series of a healthy operator, for an hour. */
const HEALTHY: Series = {
  [`op_event_loop_lag_seconds{${OPERATOR}}`]: "0.001x60",
  [`controller_runtime_reconcile_total{${NOTES},result="success"}`]: "0+60x60",
  [`controller_runtime_reconcile_total{${NOTES},result="error"}`]: "0+1x60",
  [`controller_runtime_reconcile_errors_total{${NOTES}}`]: "0+1x60",
  [`controller_runtime_reconcile_panics_total{${NOTES}}`]: "0x60",
  [`op_hot_loops{${NOTES}}`]: "0x60",
  [`workqueue_longest_running_processor_seconds{${NOTES},name="notes"}`]: "20x60",
  [`workqueue_queue_duration_seconds_bucket{${NOTES},le="1"}`]: "0+60x60",
  [`workqueue_queue_duration_seconds_bucket{${NOTES},le="1000"}`]: "0+60x60",
  [`workqueue_queue_duration_seconds_bucket{${NOTES},le="+Inf"}`]: "0+60x60",
  [`op_controller_missing_rbac{${NOTES}}`]: "0x60",
  [`op_watch_staleness_seconds{${OPERATOR},kind="Note"}`]: "60x60",
  [`leader_election_master_status{${OPERATOR},pod="a"}`]: "1x60",
  [`leader_election_master_status{${OPERATOR},pod="b"}`]: "0x60",
  [`rest_client_requests_total{${OPERATOR},code="200"}`]: "0+60x60",
  [`rest_client_requests_total{${OPERATOR},code="500"}`]: "0+1x60",
  [`op_stray_errors_total{${OPERATOR}}`]: "0x60",
  [`controller_runtime_webhook_requests_total{${OPERATOR},webhook="/v",code="200"}`]: "0+60x60",
  [`controller_runtime_webhook_requests_total{${OPERATOR},webhook="/v",code="500"}`]: "0+1x60",
  [`controller_runtime_webhook_latency_seconds_bucket{${OPERATOR},webhook="/v",le="0.1"}`]: "0+60x60",
  [`controller_runtime_webhook_latency_seconds_bucket{${OPERATOR},webhook="/v",le="+Inf"}`]: "0+60x60",
  [`op_certificate_expiry_seconds{${OPERATOR},certificate="server"}`]: "2592000-60x60",
};

/**
 * The changes of the healthy series that raise each alert within the hour. An empty string removes
 * a series.
 */
const ALERT_CAUSES: Readonly<Record<string, Series>> = {
  OperatorDown: { [`op_event_loop_lag_seconds{${OPERATOR}}`]: "" },
  OperatorReconcilesFail: { [`controller_runtime_reconcile_errors_total{${NOTES}}`]: "0+10x60" },
  OperatorReconcilePanics: { [`controller_runtime_reconcile_panics_total{${NOTES}}`]: "0x50 1x10" },
  OperatorHotLoop: {
    [`op_hot_loops{${NOTES},kind="ConfigMap",field=".data.x",manager="shop.notes",other_manager="kubectl-edit"}`]:
      "_x30 1x30",
  },
  OperatorReconcileTakesLong: { [`workqueue_longest_running_processor_seconds{${NOTES},name="notes"}`]: "0+60x60" },
  OperatorObjectsWait: { [`workqueue_queue_duration_seconds_bucket{${NOTES},le="1"}`]: "0+6x60" },
  OperatorLacksRbacPermission: { [`op_controller_missing_rbac{${NOTES}}`]: "1x60" },
  OperatorWatchStale: { [`op_watch_staleness_seconds{${OPERATOR},kind="Note"}`]: "0+60x60" },
  OperatorWithoutLeader: { [`leader_election_master_status{${OPERATOR},pod="a"}`]: "0x60" },
  OperatorWithTwoLeaders: { [`leader_election_master_status{${OPERATOR},pod="b"}`]: "1x60" },
  OperatorApiServerFails: { [`rest_client_requests_total{${OPERATOR},code="500"}`]: "0+20x60" },
  OperatorStrayErrors: { [`op_stray_errors_total{${OPERATOR}}`]: "0x50 1x10" },
  OperatorEventLoopLate: { [`op_event_loop_lag_seconds{${OPERATOR}}`]: "3x60" },
  OperatorWebhookFails: {
    [`controller_runtime_webhook_requests_total{${OPERATOR},webhook="/v",code="500"}`]: "0+20x60",
  },
  OperatorWebhookSlow: {
    [`controller_runtime_webhook_latency_seconds_bucket{${OPERATOR},webhook="/v",le="0.1"}`]: "0+20x60",
    [`controller_runtime_webhook_latency_seconds_bucket{${OPERATOR},webhook="/v",le="10"}`]: "0+60x60",
  },
  OperatorCertificateExpires: { [`op_certificate_expiry_seconds{${OPERATOR},certificate="server"}`]: "86400-60x60" },
};

/** Returns the alerts as a rule file of Prometheus. */
function rules(): string {
  return stringify({ groups: [{ name: "shop", rules: ALERTS }] });
}

/** A unit test of promtool: the hot loop alert names the field and both field managers. */
const HOT_LOOP = {
  name: "a hot loop by its field",
  interval: "1m",
  input_series: Object.entries(ALERT_CAUSES.OperatorHotLoop!).map(([series, values]) => ({ series, values })),
  alert_rule_test: [{
    alertname: "OperatorHotLoop",
    eval_time: "59m",
    exp_alerts: [{
      exp_labels: {
        severity: "warning",
        operator: "shop",
        controller: "notes",
        kind: "ConfigMap",
        field: ".data.x",
        manager: "shop.notes",
        other_manager: "kubectl-edit",
      },
      exp_annotations: {
        summary: "Controller notes reconciles 1 objects in a hot loop",
        description: "Field managers shop.notes and kubectl-edit change .data.x of ConfigMap back and forth. " +
          "The log line, the Event and the condition Reconciling with reason HotLoop name the object.",
      },
    }],
  }],
};

Deno.test(
  "promtool accepts the rules, and each alert is raised only by its own condition",
  NEEDS_PROMETHEUS,
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${folder}/rules.yml`, rules());
      const checked = await promtool(["check", "rules", `${folder}/rules.yml`]);
      assert(checked.success && checked.text.includes("SUCCESS: 16 rules found"), checked.text);

      assert.deepEqual(Object.keys(ALERT_CAUSES), ALERTS.map(({ alert }) => alert));
      const cases: [string | undefined, Series][] = [[undefined, {}], ...Object.entries(ALERT_CAUSES)];
      const tests = cases.map(([raised, changes]) => ({
        name: raised ?? "no alert",
        interval: "1m",
        input_series: Object.entries({ ...HEALTHY, ...changes }).filter(([, values]) => values !== "")
          .map(([series, values]) => ({ series, values })),
        // Counts the raised series, because their labels and annotations depend on the alert.
        promql_expr_test: ALERTS.map(({ alert }) => ({
          expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
          eval_time: "59m",
          exp_samples: [{ labels: "{}", value: alert === raised ? 1 : 0 }],
        })),
      }));
      await Deno.writeTextFile(
        `${folder}/tests.yml`,
        stringify({ rule_files: ["rules.yml"], evaluation_interval: "1m", tests: [...tests, HOT_LOOP] }),
      );
      const tested = await promtool(["test", "rules", `${folder}/tests.yml`]);
      assert(tested.success, tested.text);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

Deno.test(
  "Prometheus scrapes a running operator, and answers each query of its dashboard and alerts",
  NEEDS_PROMETHEUS,
  async (t) => {
    const home = await Deno.makeTempDir();
    await using resources = new AsyncDisposableStack();
    resources.defer(() => Deno.remove(home, { recursive: true }));
    const apiserver = resources.use(createApiserver());
    const served = resources.use(serveApiserver(apiserver));
    const client = new Client({ url: served.url, fetch: (request) => apiserver.fetch(request), close() {} });
    await Deno.writeTextFile(`${home}/kubeconfig`, kubeconfigFor(served));
    await client.create(CustomResourceDefinition, Note.crd as never);
    const port = freePort();
    const operator = resources.use(
      await startOperator({
        home,
        main: MAIN,
        args: ["--kubeconfig", `${home}/kubeconfig`, "--health-hostname", "127.0.0.1", "--health-port", String(port)],
      }),
    );
    await operator.logged(({ msg }) => msg === "Controller started");
    await client.create(Note, { metadata: { name: "secret-name", namespace: "default" }, spec: {} });
    await operator.logged(({ msg }) => msg === "Note written");
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

    await t.step("promtool accepts the metrics without a warning", async () => {
      const checked = await promtool(["check", "metrics"], text);
      assert.deepEqual(checked, { success: true, text: "" });
    });

    await t.step(
      "each listed metric is exported with its type and help, and no label contains an object's name",
      () => {
        for (const { name, type, help } of Object.values(METRICS)) {
          assert(text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`), name);
        }
        assert(!text.includes("secret-name"));
      },
    );

    await Deno.writeTextFile(`${home}/rules.yml`, rules());
    const labels = { app_kubernetes_io_name: "shop", namespace: "shop-system", pod: "shop-0" };
    const prometheus = resources.use(
      await startPrometheus(stringify({
        // A scrape may take as long as the scrape interval.
        global: { scrape_interval: "2s", evaluation_interval: "1s" },
        rule_files: [`${home}/rules.yml`],
        scrape_configs: [{ job_name: "shop", static_configs: [{ targets: [`127.0.0.1:${port}`], labels }] }],
      })),
    );
    type Vector = { readonly result: readonly { readonly metric: Readonly<Record<string, string>> }[] };
    const query = (expr: string) => prometheus.get<Vector>("query", { query: expr });

    await t.step("the operator is up as a target, and its series exist", async () => {
      await eventually(async () => {
        const { result } = await query('controller_runtime_reconcile_total{result="success"} > 0');
        assert.deepEqual(result.map(({ metric }) => [metric.controller, metric.app_kubernetes_io_name]), [[
          "notes",
          "shop",
        ]]);
      });
      type Targets = { readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[] };
      await eventually(async () => {
        const { activeTargets } = await prometheus.get<Targets>("targets");
        assert.deepEqual(activeTargets.map(({ health, lastError }) => [health, lastError]), [["up", ""]]);
      });
    });

    await t.step(
      "Prometheus answers each query of the dashboard, with series for the metrics that this operator exports",
      async () => {
        const { panels } = JSON.parse(dashboardOf("shop")) as {
          panels: { description?: string; targets?: { expr: string }[] }[];
        };
        // The operator has no webhooks and no leader election, and has written no Events.
        const absent = /(?<!conversion_)webhook|certificate_expiry|leader_election|op_events_total/;
        for (const { description = "", targets = [] } of panels) {
          for (const { expr } of targets) {
            const concrete = expr.replaceAll("$namespace", "shop-system").replaceAll("$pod", "shop-.*")
              .replaceAll("$__rate_interval", "1m");
            await eventually(async () => {
              const { result } = await query(concrete);
              assert.equal(result.length > 0, !absent.test(description), concrete);
            });
          }
        }
      },
    );

    await t.step("Prometheus evaluates each alert and raises none", async () => {
      await eventually(async () => {
        type Rules = { readonly groups: readonly { readonly rules: readonly { health: string; state: string }[] }[] };
        const { groups } = await prometheus.get<Rules>("rules");
        const all = groups.flatMap(({ rules }) => rules);
        assert.equal(all.length, ALERTS.length);
        assert(all.every(({ health }) => health === "ok"), JSON.stringify(all));
      });
      assert.deepEqual((await query('ALERTS{alertstate="firing"}')).result, []);
    });
  },
);
