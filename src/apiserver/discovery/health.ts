/** Health checks: `/healthz`, `/livez` and `/readyz`, whole and check by check (`k8s.io/apiserver/pkg/server/healthz`). */
import { own } from "../../base/own.ts";
import { COMMON } from "../wire/formats.ts";

const ALWAYS = ["ping", "log", "etcd"];

/**
 * The checks of each probe, by the names that the real server has for them. A server in the process passes all that it has: it answers. What the real one
 * tells of the hooks that run at its start has no counterpart.
 */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  healthz: ALWAYS,
  livez: ALWAYS,
  readyz: [...ALWAYS, "etcd-readiness", "informer-sync", "shutdown"],
};

/** All paths of checks. */
export const HEALTH_PATHS: readonly string[] = Object.entries(CHECKS).flatMap(([probe, checks]) => [
  `/${probe}`,
  ...checks.map((check) => `/${probe}/${check}`),
]);

/** Whether a path is one of a probe, be there such a check or not. */
export function isHealthPath(path: string): boolean {
  return own(CHECKS, path.split("/")[1] ?? "") !== undefined;
}

/**
 * Answers a probe.
 *
 * @param path The path.
 * @param query `verbose` wants a line for each check, `exclude` leaves one out.
 * @returns Nothing where there is no such check.
 */
export function health(path: string, query: URLSearchParams): Response | undefined {
  if (!HEALTH_PATHS.includes(path)) return undefined;
  const [, probe = "", check] = path.split("/");
  const headers = { ...COMMON, "content-type": "text/plain; charset=utf-8" };
  if (check !== undefined) return new Response("ok", { headers });
  const text = query.has("verbose") ? verbose(probe, query.getAll("exclude")) : "ok";
  return new Response(text, { headers: { ...headers, "x-content-type-options": "nosniff" } });
}

function verbose(probe: string, excluded: readonly string[]): string {
  const checks = own(CHECKS, probe) ?? [];
  const lines = checks.map((check) => excluded.includes(check) ? `[+]${check} excluded: ok` : `[+]${check} ok`);
  const unknown = [...new Set(excluded.filter((each) => !checks.includes(each)))].sort();
  if (unknown.length > 0) {
    const names = unknown.map((each) => JSON.stringify(each)).join(", ");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  return `${[...lines, `${probe} check passed`].join("\n")}\n`;
}
