import assert from "node:assert/strict";
import { healthResponse } from "./health.ts";
import type { ReadinessLine } from "./running.ts";

const READY: ReadinessLine = { name: "watch Website", isReady: true, message: "up to date" };
const WAITING: ReadinessLine = { name: "controller websites", isReady: false, message: "waits for Website" };

const CASES: readonly { path: string; lag?: number; lines: ReadinessLine[]; status: number; body: string }[] = [
  { path: "/livez", lines: [WAITING], status: 200, body: "[+]event loop: on time\n" },
  { path: "/healthz", lines: [WAITING], status: 200, body: "[+]event loop: on time\n" },
  { path: "/livez", lag: 6200, lines: [READY], status: 503, body: "[-]event loop: 6.2 s late\n" },
  { path: "/metrics", lines: [WAITING], status: 503, body: "Starting\n" },
  { path: "/readyz?verbose", lines: [READY], status: 200, body: "[+]watch Website: up to date\n" },
  {
    path: "/readyz",
    lines: [READY, WAITING],
    status: 503,
    body: "[+]watch Website: up to date\n[-]controller websites: waits for Website\n",
  },
  { path: "/", lines: [READY], status: 404, body: "Not found. Available paths: /livez, /readyz, /metrics\n" },
];

for (const { path, lag = 0, lines, status, body } of CASES) {
  Deno.test(`healthResponse responds to ${path} with ${status}`, async () => {
    const source = { readiness: () => lines, lag, metrics: undefined };
    const response = await healthResponse(new Request(`http://pod${path}`), source);
    assert.equal(response.status, status);
    assert.equal(await response.text(), body);
  });
}
