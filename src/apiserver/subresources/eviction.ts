/**
 * Serves `pods/NAME/eviction`: a deletion that disruption budgets limit
 * (`k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go`).
 */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { deleteAdmitted } from "../admission/deletion.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { updateObject } from "../core/persist.ts";
import type { Target } from "../core/target.ts";
import { type LabelSelector, matchesSelector } from "../objects/label_selector.ts";
import { type Draft, fields, type StoredObject, timestamp } from "../objects/objects.ts";
import { type DeleteOptions, deleteOptions } from "../objects/options.ts";
import { getObject, prefixOf } from "../verbs/read.ts";
import { conflict, StatusError } from "../wire/status_error.ts";
import { withPodCondition } from "./pod_conditions.ts";

const BUDGETS = "policy/poddisruptionbudgets";

/**
 * Evicts a pod, unless a budget does not allow it.
 *
 * @param core The server.
 * @param target Target of the request: the pod.
 * @param eviction The body.
 * @param dryRun Whether to validate the request without storing changes.
 * @throws {StatusError} If the pod does not exist, a precondition fails, or a budget does not allow
 * the eviction.
 */
export async function evict(core: Core, target: Target, eviction: Draft, dryRun: boolean): Promise<void> {
  const { namespace, name = "", query, kind } = target;
  const bodyOptions = deleteOptions(query, own(eviction, "deleteOptions"));
  const options = { ...bodyOptions, dryRun: bodyOptions.dryRun || dryRun };
  const pod = getObject(core, kind, namespace, name);
  if (!ignoresBudgets(pod)) checkBudgets(core, pod, options);
  checkPreconditions(pod, options);
  if (!options.dryRun) addCondition(core, target, name);
  // The new condition changes the resourceVersion, so the preconditions have been checked before
  // and are omitted here.
  const { preconditions: _, ...rest } = options;
  await deleteAdmitted(core, target, { namespace, name }, rest);
}

/**
 * Returns whether a pod is terminating, has ended or has not started, so that its eviction is not a
 * disruption.
 */
function ignoresBudgets({ metadata, status }: StoredObject): boolean {
  const { phase } = fields(status);
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || metadata.deletionTimestamp !== undefined;
}

function checkPreconditions({ metadata }: StoredObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const mismatch = (field: string, wanted: string, actual: string, change: string) =>
    conflict(
      { group: "", plural: "Pod" },
      metadata.name,
      `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${actual}). The object might have been ${change}`,
    );
  if (uid && uid !== metadata.uid) throw mismatch("UID", uid, metadata.uid, "deleted and then recreated");
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw mismatch("ResourceVersion", resourceVersion, metadata.resourceVersion, "modified");
  }
}

/** Sets the condition DisruptionTarget. The real server does this without managed fields. */
function addCondition(core: Core, { kind, namespace }: Target, name: string): void {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const change = (live: StoredObject) => withPodCondition(live, condition, core.clock.now());
  updateObject(core, kind, { namespace, name, dryRun: false, subresource: "status" }, change);
}

function checkBudgets(core: Core, pod: StoredObject, { dryRun }: DeleteOptions): void {
  const { namespace, labels = {} } = pod.metadata;
  const [budget, another] = core.store.list(BUDGETS, prefixOf(namespace)).filter(({ spec }) => {
    const selector = fields(spec).selector;
    return isObject(selector) && matchesSelector(selector as LabelSelector, labels);
  });
  if (budget === undefined) return;
  if (another !== undefined) {
    throw new StatusError(
      500,
      undefined,
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    );
  }
  if (!isReady(pod) && allowsUnready(budget)) return;
  consumeDisruption(core, budget, pod.metadata.name, dryRun);
}

function isReady({ status }: StoredObject): boolean {
  const { conditions } = fields(status);
  return Array.isArray(conditions) && conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/**
 * Returns whether a budget allows the eviction of a pod that is not ready: always, or if enough
 * others are healthy.
 */
function allowsUnready({ spec, status }: StoredObject): boolean {
  if (fields(spec).unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = counts(status);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function consumeDisruption(core: Core, budget: StoredObject, pod: string, dryRun: boolean): void {
  const { name, namespace, generation = 0 } = budget.metadata;
  const { observedGeneration, disruptionsAllowed, currentHealthy, desiredHealthy } = counts(budget.status);
  if (observedGeneration < generation) {
    throw tooManyRequests(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (disruptionsAllowed <= 0) {
    throw tooManyRequests(
      currentHealthy <= desiredHealthy
        ? `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
        : `The disruption budget ${name} does not allow evicting pods currently`,
    );
  }
  const kind = core.kinds.get("policy", "v1", "poddisruptionbudgets");
  if (dryRun || kind === undefined) return;
  const now = timestamp(core.clock.now());
  const change = (live: StoredObject) => {
    const status = fields(live.status);
    const remaining = disruptionsAllowed - 1;
    return {
      ...live,
      status: {
        ...status,
        disruptedPods: { ...fields(status.disruptedPods), [pod]: now },
        disruptionsAllowed: remaining,
        ...remaining === 0 && { conditions: withExhaustedCondition(status.conditions, generation, now) },
      },
    };
  };
  const track = (next: StoredObject, old: StoredObject) =>
    trackUpdate(core, kind, old, next, { manager: "kube-apiserver", subresource: "status" });
  updateObject(core, kind, { namespace, name, dryRun: false, subresource: "status", track }, change);
}

function withExhaustedCondition(conditions: unknown, observedGeneration: number, now: string): readonly unknown[] {
  const type = "DisruptionAllowed";
  const others = Array.isArray(conditions) ? conditions.filter((each) => fields(each).type !== type) : [];
  const exhausted = { type, status: "False", observedGeneration, lastTransitionTime: now, reason: "InsufficientPods" };
  return [...others, { ...exhausted, message: "" }];
}

function tooManyRequests(message: string, retryAfterSeconds?: number): StatusError {
  return new StatusError(
    429,
    "TooManyRequests",
    "Cannot evict pod as it would violate the pod's disruption budget.",
    {
      causes: [{ reason: "DisruptionBudget", message }],
      ...retryAfterSeconds !== undefined && { retryAfterSeconds },
    },
  );
}

function counts(status: unknown): Record<(typeof COUNTS)[number], number> {
  return Object.fromEntries(COUNTS.map((key) => [key, Number(fields(status)[key] ?? 0)])) as ReturnType<typeof counts>;
}

const COUNTS = ["observedGeneration", "disruptionsAllowed", "currentHealthy", "desiredHealthy"] as const;
