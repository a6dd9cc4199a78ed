/**
 * Health checks: `/healthz`, `/livez` and `/readyz`, and a path for each single check
 * (`k8s.io/apiserver/pkg/server/healthz`).
 */
import { own } from "../../base/own.ts";
import { COMMON_HEADERS } from "../wire/formats.ts";

const COMMON_CHECKS = ["ping", "log", "etcd"];

/**
 * The checks of each probe, by their names in the real server. All succeed, because a server that
 * responds is healthy. The checks of the real server's post-start hooks have no counterpart.
 */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  healthz: COMMON_CHECKS,
  livez: COMMON_CHECKS,
  readyz: [...COMMON_CHECKS, "etcd-readiness", "informer-sync", "shutdown"],
};

/** All paths of checks. */
export const HEALTH_PATHS: readonly string[] = Object.entries(CHECKS).flatMap(([probe, checks]) => [
  `/${probe}`,
  ...checks.map((check) => `/${probe}/${check}`),
]);

/** Returns whether a path belongs to a probe, even if it names a check that does not exist. */
export function isHealthPath(path: string): boolean {
  return own(CHECKS, path.split("/")[1] ?? "") !== undefined;
}

/**
 * Responds to a probe.
 *
 * @param path The path.
 * @param query `verboseReport` requests a line for each check, `exclude` skips a check.
 * @returns The response; `undefined` if the check does not exist.
 */
export function health(path: string, query: URLSearchParams): Response | undefined {
  if (!HEALTH_PATHS.includes(path)) return undefined;
  const [, probe = "", check] = path.split("/");
  const headers = { ...COMMON_HEADERS, "content-type": "text/plain; charset=utf-8" };
  if (check !== undefined) return new Response("ok", { headers });
  const text = query.has("verbose") ? verboseReport(probe, query.getAll("exclude")) : "ok";
  return new Response(text, { headers: { ...headers, "x-content-type-options": "nosniff" } });
}

function verboseReport(probe: string, excluded: readonly string[]): string {
  const checks = own(CHECKS, probe) ?? [];
  const lines = checks.map((check) => excluded.includes(check) ? `[+]${check} excluded: ok` : `[+]${check} ok`);
  const unknown = [...new Set(excluded.filter((each) => !checks.includes(each)))].sort();
  if (unknown.length > 0) {
    const names = unknown.map((each) => JSON.stringify(each)).join(", ");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  return `${[...lines, `${probe} check passed`].join("\n")}\n`;
}
