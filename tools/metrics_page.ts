/** The page of the guide on metrics and alerts, made from their lists: `deno run -A tools/metrics_page.ts` writes docs/guides/metrics.md. */
import { type Metric, METRICS } from "../src/base/metric_list.ts";
import { alertsOf } from "../src/manifests/alerts.ts";

const PAGE = new URL("../docs/guides/metrics.md", import.meta.url);

/** The page's text, before it is formatted. */
export function metricsPage(): string {
  const metrics: readonly Metric[] = Object.values(METRICS);
  const alerts = alertsOf({ name: "shop-operator", hasControllers: true, isElected: true, hasWebhooks: true });
  return `# Metrics and alerts

Made by tools/metrics_page.ts from the lists of the code. Names without \`op_\` are controller-runtime's and client-go's, with their labels. No label holds an object's name.

| metric | type | labels | what it tells |
| --- | --- | --- | --- |
${metrics.map(({ name, type, labels, help }) => row([code(name), type, labels.map(code).join(" "), help])).join("")}
The same list makes \`config/prometheus\` of \`op generate manifests\`: a ServiceMonitor, a PrometheusRule with the alerts below, and a dashboard of Grafana in a ConfigMap with the label \`grafana_dashboard\`, as the sidecar of Grafana's Helm chart looks for them. All know their series by the label \`app_kubernetes_io_name\`, which is that of the Service: a Prometheus that is configured otherwise has to take it over (\`labelmap\` of \`__meta_kubernetes_service_label_(.+)\`). What stands below \`spec\` of the PrometheusRule is a rule file as Prometheus itself takes it.

An operator has the alerts that fit it: on webhooks where it has some, on leaders where it elects them. Their expressions, for an operator "shop-operator":

| alert | severity | after | what it tells |
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

/** Without the templates of Prometheus. */
function plain(text: string): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, "_$1_").replaceAll(/\{\{ \$value.*?\}\}/g, "_so much_")
    .replaceAll(/\{\{ (if .*?|else if .*?|end) \}\}/g, "");
}

/** The page as it is written. */
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
