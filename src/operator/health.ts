/**
 * Health over HTTP: `/livez` reports that the process responds, `/readyz` reports readiness,
 * `/metrics` returns the metrics.
 */
import type { Metrics } from "../runtime/metrics.ts";
import type { MetricsGuard } from "./metrics_guard.ts";
import type { ReadinessLine } from "./readiness.ts";

/** The state of the operator that health responses report. */
export interface HealthSource {
  /** Returns a line for each watch, controller and RBAC permission. */
  readiness(): readonly ReadinessLine[];
  /** The delay of the event loop, in milliseconds. */
  readonly lag: number;
  /** The metrics, or `undefined` while the operator starts. */
  readonly metrics: Metrics | undefined;
  /** Restricts access to the metrics. `disabled` does not serve them. @default {"public"} */
  readonly metricsAccess?: MetricsGuard | "public" | "disabled";
}

// A kubelet's probe times out after 1 s and fails after three attempts. A process that is this late
// every time should be restarted.
const MAX_LAG = 5000;

/**
 * Responds to a health request.
 *
 * @param request The request: `/healthz`, `/livez`, `/readyz` or `/metrics`.
 * @param source The state of the operator.
 * @returns 200 if all checks pass, otherwise 503 with the reasons, in the API server's format.
 */
export async function healthResponse(request: Request, source: HealthSource): Promise<Response> {
  switch (new URL(request.url).pathname) {
    case "/healthz":
    case "/livez":
      return report([liveLine(source.lag)]);
    case "/readyz":
      return report(source.readiness());
    case "/metrics": {
      const { metrics, metricsAccess = "public" } = source;
      if (metricsAccess === "disabled") return notFound();
      const rejection = metricsAccess === "public" ? undefined : await metricsAccess(request);
      if (rejection !== undefined) return rejection;
      if (metrics === undefined) return new Response("Starting\n", { status: 503 });
      return new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
    }
    default:
      return notFound();
  }
}

function notFound(): Response {
  return new Response("Not found. Available paths: /livez, /readyz, /metrics\n", { status: 404 });
}

function liveLine(lag: number): ReadinessLine {
  const isReady = lag < MAX_LAG;
  return { name: "event loop", isReady, message: isReady ? "on time" : `${(lag / 1000).toFixed(1)} s late` };
}

function report(lines: readonly ReadinessLine[]): Response {
  const text = lines.map(({ name, isReady, message }) => `[${isReady ? "+" : "-"}]${name}: ${message}\n`).join("");
  const deciding = lines.filter(({ decides }) => decides);
  const counted = deciding.length === 0 ? lines : deciding;
  return new Response(text, { status: counted.every(({ isReady }) => isReady) ? 200 : 503 });
}
