/** Health over HTTP: `/livez` says that the process answers, `/readyz` what it waits for, `/metrics` what it counts. */
import type { Metrics } from "../runtime/metrics.ts";
import type { MetricsGuard } from "./metrics_guard.ts";
import type { ReadinessLine } from "./readiness.ts";

/** What health is asked of. */
export interface HealthSource {
  /** What there is to say: a line a watch, a controller, a permission. */
  readiness(): readonly ReadinessLine[];
  /** By how many milliseconds the event loop is late. */
  readonly lag: number;
  /** Nothing while the operator starts. */
  readonly metrics: Metrics | undefined;
  /** Who may read them: everybody without it; `nobody` where they are not served. */
  readonly guard?: MetricsGuard | "nobody" | undefined;
}

// A kubelet gives a probe a second and asks three times: what is late by so much, again and again, is better begun anew.
const LONGEST_LAG = 5000;

/**
 * Answers a health request.
 *
 * @param request The request: `/healthz`, `/livez`, `/readyz` or `/metrics`.
 * @param source What it is asked of.
 * @returns 200 when all is well, 503 with the reasons when not, in the API server's own notation.
 */
export async function healthResponse(request: Request, source: HealthSource): Promise<Response> {
  switch (new URL(request.url).pathname) {
    case "/healthz":
    case "/livez":
      return report([liveLine(source.lag)]);
    case "/readyz":
      return report(source.readiness());
    case "/metrics": {
      const { metrics, guard } = source;
      if (guard === "nobody") return notFound();
      const refusal = await guard?.(request);
      if (refusal !== undefined) return refusal;
      if (metrics === undefined) return new Response("Starting\n", { status: 503 });
      return new Response(await metrics.text(), { headers: { "content-type": metrics.contentType } });
    }
    default:
      return notFound();
  }
}

function notFound(): Response {
  return new Response("Not found: ask /livez, /readyz or /metrics\n", { status: 404 });
}

function liveLine(lag: number): ReadinessLine {
  const isReady = lag < LONGEST_LAG;
  return { name: "event loop", isReady, told: isReady ? "on time" : `${(lag / 1000).toFixed(1)} s late` };
}

function report(lines: readonly ReadinessLine[]): Response {
  const text = lines.map(({ name, isReady, told }) => `[${isReady ? "+" : "-"}]${name}: ${told}\n`).join("");
  const deciding = lines.filter(({ decides }) => decides);
  const counted = deciding.length === 0 ? lines : deciding;
  return new Response(text, { status: counted.every(({ isReady }) => isReady) ? 200 : 503 });
}
