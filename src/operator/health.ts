/** Health over HTTP: `/livez` says that the process answers, `/readyz` what it waits for. */
import type { ReadinessLine } from "./running.ts";

/**
 * Answers a health request.
 *
 * @param request The request: `/healthz`, `/livez` or `/readyz`.
 * @param readiness What there is to say: a line a watch, a controller.
 * @returns 200 when all is well, 503 with the reasons when not, in the API server's own notation.
 */
export function healthResponse(request: Request, readiness: () => readonly ReadinessLine[]): Response {
  switch (new URL(request.url).pathname) {
    case "/healthz":
    case "/livez":
      return new Response("ok\n");
    case "/readyz": {
      const lines = readiness();
      const report = lines.map(({ name, isReady, told }) => `[${isReady ? "+" : "-"}]${name}: ${told}\n`).join("");
      return new Response(report, { status: lines.every(({ isReady }) => isReady) ? 200 : 503 });
    }
    default:
      return new Response("Not found: ask /livez or /readyz\n", { status: 404 });
  }
}
