/**
 * The readiness of an operator: one line for each watch, controller and RBAC permission, and one
 * for leadership.
 */
import type { AccessCheck } from "../runtime/access_check.ts";
import type { ControllerLoop } from "../runtime/controller_loop.ts";
import type { Elector } from "../runtime/elector.ts";
import type { Informers } from "../runtime/informers.ts";
import type { Informer } from "../watch/informer.ts";

/** A line of a readiness report. */
export interface ReadinessLine {
  readonly name: string;
  readonly isReady: boolean;
  /** The state, or why it is not ready. */
  readonly message: string;
  /**
   * Whether readiness depends only on this line and on the other lines with `decides`. A waiting
   * controller must not make the pod unready, because the Service would stop routing requests to
   * its webhooks.
   */
  readonly decides?: boolean;
}

// Milliseconds without an event. The API server sends a bookmark about once a minute on an idle
// watch (k8s.io/apiserver pkg/storage/cacher, defaultBookmarkFrequency).
const STALE = 180_000;

/** Returns the line of a watch. */
export function watchLine({ kind, problem, isSynced, staleness, selectionText }: Informer): ReadinessLine {
  const isReady = isSynced && problem === undefined;
  const seconds = `${Math.round(staleness / 1000)} s`;
  const age = staleness > STALE ? `no events for ${seconds}` : `up to date, last event ${seconds} ago`;
  return {
    name: `watch ${kind.kind}${selectionText}`,
    isReady,
    message: problem?.message ?? (isSynced ? age : "listing"),
  };
}

/**
 * Returns a line for each watch. Watches of single objects share a line per kind; those that are
 * not ready have their own.
 */
export function watchLines(informers: Informers): ReadinessLine[] {
  const named = new Set(informers.named());
  const lines = informers.all().filter((informer) => !named.has(informer)).map(watchLine);
  const counts = new Map<string, number>();
  for (const informer of named) {
    const line = watchLine(informer);
    if (line.isReady) counts.set(informer.kind.kind, (counts.get(informer.kind.kind) ?? 0) + 1);
    else lines.push(line);
  }
  for (const [kind, count] of counts) {
    lines.push({ name: `watch ${kind} by name`, isReady: true, message: `${count} up to date` });
  }
  return lines;
}

/** Returns the line of a controller. */
export function controllerLine({ scope, waitsFor, heldBy }: ControllerLoop): ReadinessLine {
  const name = `controller ${scope.loop}`;
  if (waitsFor.length > 0) return { name, isReady: false, message: `waits for ${waitsFor.join(", ")}` };
  return { name, isReady: heldBy.length === 0, message: heldBy[0] ?? "running" };
}

/** Returns a line for each RBAC permission that was checked. */
export function rbacLines(checks: readonly AccessCheck[]): ReadinessLine[] {
  const granted = new Map<string, boolean>();
  for (const { results } of checks) {
    for (const { text, isGranted } of results) granted.set(text, isGranted && (granted.get(text) ?? true));
  }
  return [...granted].map(([text, isReady]) => ({
    name: `RBAC permission to ${text}`,
    isReady,
    message: isReady ? "granted" : "missing",
  }));
}

/** Returns the line of the leader election. A standby is ready. */
export function leaderLine({ isLeading, holder, yieldsTo, blockedBy }: Elector): ReadinessLine {
  const leader = `${holder ?? "no process"} leads`;
  const priority = blockedBy === undefined ? "" : ` with priority ${blockedBy}, which is not lower`;
  return {
    name: "leadership",
    isReady: true,
    message: yieldsTo !== undefined && isLeading
      ? `yields to ${yieldsTo}`
      : isLeading
      ? "leads"
      : `stands by, ${leader}${priority}`,
  };
}
