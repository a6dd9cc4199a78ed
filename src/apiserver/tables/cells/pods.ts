/** Cells of pods. */
import type { StoredObject } from "../../objects/objects.ts";
import { type Cell, type Cells, type Fields, fields, isTrueCondition, list, since } from "./_fields.ts";

export const podCells: Cells = {
  Ready: (pod) => `${stateOf(pod).ready}/${stateOf(pod).total}`,
  Status: (pod) => stateOf(pod).reason,
  Restarts: (pod, now) => {
    const { restarts, lastRestart } = stateOf(pod);
    return restarts > 0 && lastRestart !== "" ? `${restarts} (${since(lastRestart, now)} ago)` : String(restarts);
  },
  IP: ({ status }) => list(status, "podIPs")[0]?.ip || "<none>",
  Node: ({ spec }) => fields(spec).nodeName || "<none>",
  "Nominated Node": ({ status }) => fields(status).nominatedNodeName || "<none>",
  "Readiness Gates": readinessGates,
};

function readinessGates({ spec, status }: StoredObject): ReturnType<Cell> {
  const gates = list(spec, "readinessGates");
  if (gates.length === 0) return "<none>";
  return `${
    gates.filter(({ conditionType }) => isTrueCondition(status, String(conditionType))).length
  }/${gates.length}`;
}

interface PodState {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
  readonly restarts: number;
  /** Time at which a container last terminated; empty if none has terminated. */
  readonly lastRestart: string;
}

function stateOf(pod: StoredObject): PodState {
  const { spec, status, metadata } = pod;
  const initContainers = list(spec, "initContainers");
  const sidecars = new Set(initContainers.filter((each) => each.restartPolicy === "Always").map(({ name }) => name));
  const phase = String(fields(status).phase ?? "");
  const init = initState(pod, sidecars);
  let { reason = fields(status).reason ? String(fields(status).reason) : schedulingGateReason(status) ?? phase } = init;
  let { ready, restarts, lastRestart } = init;
  if (init.reason === undefined || isTrueCondition(status, "Initialized")) {
    const statuses = list(status, "containerStatuses");
    restarts = init.sidecarRestarts + sum(statuses);
    lastRestart = latest(statuses, init.lastSidecarRestart);
    const main = containersReason(statuses, reason);
    ready += main.running;
    reason = main.reason;
    if (reason === "Completed") {
      if (main.running > 0 && isTrueCondition(status, "Ready")) reason = "Running";
      else if (main.error !== "") reason = main.error;
      else if (main.running > 0) reason = "NotReady";
    }
  }
  const hasEnded = phase === "Succeeded" || phase === "Failed";
  if (metadata.deletionTimestamp !== undefined) {
    if (fields(status).reason === "NodeLost") reason = "Unknown";
    else if (!hasEnded) reason = "Terminating";
  }
  return { ready, total: list(spec, "containers").length + sidecars.size, reason, restarts, lastRestart };
}

function schedulingGateReason(status: unknown): string | undefined {
  const isGated = list(status, "conditions").some(({ type, reason }) =>
    type === "PodScheduled" && reason === "SchedulingGated"
  );
  return isGated ? "SchedulingGated" : undefined;
}

interface InitState {
  /** Reason why the pod is not initialized; absent once it is. */
  readonly reason?: string;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: string;
  readonly sidecarRestarts: number;
  readonly lastSidecarRestart: string;
}

function initState({ spec, status }: StoredObject, sidecars: ReadonlySet<unknown>): InitState {
  const statuses = list(status, "initContainerStatuses");
  let ready = 0;
  for (const [i, container] of statuses.entries()) {
    const { terminated } = statesOf(container);
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started === true) {
      if (container.ready === true) ready++;
      continue;
    }
    const seen = statuses.slice(0, i + 1);
    const reason = initReason(container, `${i}/${list(spec, "initContainers").length}`);
    return { ...restartsOf(seen, sidecars), ready, reason: `Init:${reason}` };
  }
  return { ...restartsOf(statuses, sidecars), ready };
}

function initReason(container: Fields, progress: string): string {
  const { terminated, waiting } = statesOf(container);
  if (terminated !== undefined) return terminationReason(terminated);
  const reason = waiting?.reason;
  return reason && reason !== "PodInitializing" ? String(reason) : progress;
}

function terminationReason({ reason, signal, exitCode }: Fields): string {
  if (reason) return String(reason);
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode ?? 0}`;
}

function statesOf(container: Fields): { terminated?: Fields; waiting?: Fields; running?: Fields } {
  return fields(container.state) as { terminated?: Fields; waiting?: Fields; running?: Fields };
}

function restartsOf(statuses: readonly Fields[], sidecars: ReadonlySet<unknown>): Omit<InitState, "ready" | "reason"> {
  const ofSidecars = statuses.filter(({ name }) => sidecars.has(name));
  return {
    restarts: sum(statuses),
    lastRestart: latest(statuses),
    sidecarRestarts: sum(ofSidecars),
    lastSidecarRestart: latest(ofSidecars),
  };
}

function sum(statuses: readonly Fields[]): number {
  return statuses.reduce((all, { restartCount }) => all + Number(restartCount ?? 0), 0);
}

function latest(statuses: readonly Fields[], before = ""): string {
  return statuses.map(({ lastState }) => String(fields(fields(lastState).terminated).finishedAt ?? ""))
    .reduce((a, b) => a < b ? b : a, before);
}

/**
 * Visits the containers from last to first, so that the first one with a reason determines the
 * result.
 */
function containersReason(
  statuses: readonly Fields[],
  before: string,
): { reason: string; error: string; running: number } {
  let [reason, error, running] = [before, "", 0];
  for (const container of statuses.toReversed()) {
    const states = statesOf(container);
    if (states.waiting?.reason) reason = String(states.waiting.reason);
    else if (states.terminated !== undefined) {
      reason = terminationReason(states.terminated);
      if (Number(states.terminated.exitCode ?? 0) !== 0) error = reason;
    } else if (container.ready === true && states.running !== undefined) running++;
  }
  return { reason, error, running };
}
