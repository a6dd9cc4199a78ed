/**
 * Generates `docs/guides/metrics.md` from the lists of metrics and alerts:
 * `deno run -A tools/metrics_page.ts`.
 */
import { type Metric, METRICS } from "../src/base/metric_list.ts";
import { alertsOf } from "../src/manifests/alerts.ts";

const PAGE = new URL("../docs/guides/metrics.md", import.meta.url);

/** Returns the page before it is formatted. */
export function metricsPage(): string {
  const metrics: readonly Metric[] = Object.values(METRICS);
  const alerts = alertsOf({ name: "shop-operator", hasControllers: true, isElected: true, hasWebhooks: true });
  return `# Metrics and alerts

An operator serves these metrics at \`/metrics\` ([Running](running.md#metrics)). Names without \`op_\` are those of controller-runtime and client-go, with their labels. No label has the name of an object. \`tools/metrics_page.ts\` generates this page from the lists in the code.

| metric | type | labels | meaning |
| --- | --- | --- | --- |
${metrics.map(({ name, type, labels, help }) => row([code(name), type, labels.map(code).join(" "), help])).join("")}
## Alerts and the dashboard

\`op generate manifests\` writes \`config/prometheus\` from the same lists: a ServiceMonitor, a PrometheusRule with the alerts below, and a Grafana dashboard in a ConfigMap with the label \`grafana_dashboard\`, which the sidecar of Grafana's Helm chart looks for. They select series by the label \`app_kubernetes_io_name\` of the Service. If your Prometheus does not use the ServiceMonitor, add this label with a \`labelmap\` of \`__meta_kubernetes_service_label_(.+)\`. The \`spec\` of the PrometheusRule is a rule file for Prometheus.

An operator has the alerts for its parts: those about webhooks if it has webhooks, those about leaders if it uses leader election. [Troubleshooting](troubleshooting.md) explains most of them. The expressions are those of an operator "shop-operator".

| alert | severity | after | meaning |
| --- | --- | --- | --- |
${
    alerts.map((one) =>
      row([
        code(one.alert),
        one.labels.severity,
        one.for,
        plain(`${one.annotations.summary}. ${one.annotations.description}`),
      ])
    ).join("")
  }
\`\`\`promql
${alerts.map(({ alert, expr }) => `# ${alert}\n${expr}\n`).join("\n")}\`\`\`
`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Replaces Prometheus template expressions with plain text. */
function plain(text: string): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "_$1_").replaceAll(/\{\{ \$value.*?\}\}/g, "_N_")
    .replaceAll(/\{\{ (if .*?|else if .*?|end) \}\}/g, "");
}

/** Formats the page. */
export async function formatted(page: string): Promise<string> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--no-config", "--line-width=120", "--ext=md", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writing = new Blob([page]).stream().pipeTo(process.stdin);
  const [{ stdout }] = await Promise.all([process.output(), writing]);
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) await Deno.writeTextFile(PAGE, await formatted(metricsPage()));
