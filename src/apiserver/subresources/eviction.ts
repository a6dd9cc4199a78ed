/** `pods/NAME/eviction`: a deletion that asks the disruption budgets (`k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go`). */
import { isObject } from "../../base/json.ts";
import { own } from "../../base/own.ts";
import { deleteAdmitted } from "../admission/deletion.ts";
import { trackUpdate } from "../apply/managed_fields.ts";
import type { Core } from "../core/core.ts";
import { updateObject } from "../core/persist.ts";
import type { Target } from "../core/target.ts";
import { type LabelSelector, matchesSelector } from "../objects/label_selector.ts";
import type { Draft, StoredObject } from "../objects/objects.ts";
import { timestamp } from "../objects/objects.ts";
import { type DeleteOptions, deleteOptions } from "../objects/options.ts";
import { getObject, prefixOf } from "../verbs/read.ts";
import { conflict, StatusError } from "../wire/status_error.ts";
import { withPodCondition } from "./pod_conditions.ts";

type Fields = Readonly<Record<string, unknown>>;

const BUDGETS = "policy/poddisruptionbudgets";

/**
 * Evicts a pod, unless a budget does not allow it.
 *
 * @param core The server.
 * @param target The pod.
 * @param eviction The body.
 * @param dryRun Whether nothing is to come of it.
 * @throws {StatusError} If the pod is not there or not the one that is meant, or a budget refuses.
 */
export async function evict(core: Core, target: Target, eviction: Draft, dryRun: boolean): Promise<void> {
  const { namespace, name = "", query, kind } = target;
  const asked = deleteOptions(query, own(eviction, "deleteOptions"));
  const options = { ...asked, dryRun: asked.dryRun || dryRun };
  const pod = getObject(core, kind, namespace, name);
  if (!isBeyondBudgets(pod)) askBudgets(core, pod, options);
  refuseOther(pod, options);
  if (!options.dryRun) mark(core, target, name);
  // What was asked of the version has been looked at: the mark has changed it.
  const { preconditions: _, ...rest } = options;
  await deleteAdmitted(core, target, { namespace, name }, rest);
}

/** A pod that has ended, has not begun, or goes already: its end disrupts nothing. */
function isBeyondBudgets({ metadata, status }: StoredObject): boolean {
  const { phase } = fields(status);
  return phase === "Succeeded" || phase === "Failed" || phase === "Pending" || metadata.deletionTimestamp !== undefined;
}

function refuseOther({ metadata }: StoredObject, { preconditions }: DeleteOptions): void {
  const { uid, resourceVersion } = preconditions ?? {};
  const refuse = (what: string, asked: string, there: string, done: string) =>
    conflict(
      { group: "", plural: "Pod" },
      metadata.name,
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${there}). The object might have been ${done}`,
    );
  if (uid && uid !== metadata.uid) throw refuse("UID", uid, metadata.uid, "deleted and then recreated");
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    throw refuse("ResourceVersion", resourceVersion, metadata.resourceVersion, "modified");
  }
}

/** Says in the pod's status why it goes. The server does this below the place where it notes who owns what. */
function mark(core: Core, { kind, namespace }: Target, name: string): void {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "EvictionByEvictionAPI",
    message: "Eviction API: evicting",
  };
  const change = (live: StoredObject) => withPodCondition(live, condition, core.clock.now());
  updateObject(core, kind, { namespace, name, dryRun: false, subresource: "status" }, change);
}

function askBudgets(core: Core, pod: StoredObject, { dryRun }: DeleteOptions): void {
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
  if (!isReady(pod) && isFreeWhenUnready(budget)) return;
  takeDisruption(core, budget, pod.metadata.name, dryRun);
}

function isReady({ status }: StoredObject): boolean {
  const { conditions } = fields(status);
  return Array.isArray(conditions) && conditions.some(({ type, status }) => type === "Ready" && status === "True");
}

/** What is not ready counts for nothing: it may go where the budget says so, or where there are enough of the others. */
function isFreeWhenUnready({ spec, status }: StoredObject): boolean {
  if (fields(spec).unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy, desiredHealthy } = counts(status);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

function takeDisruption(core: Core, budget: StoredObject, pod: string, dryRun: boolean): void {
  const { name, namespace, generation = 0 } = budget.metadata;
  const { observedGeneration, disruptionsAllowed, currentHealthy, desiredHealthy } = counts(budget.status);
  if (observedGeneration < generation) {
    throw refusal(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  if (disruptionsAllowed <= 0) {
    throw refusal(
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
    const left = disruptionsAllowed - 1;
    return {
      ...live,
      status: {
        ...status,
        disruptedPods: { ...fields(status.disruptedPods), [pod]: now },
        disruptionsAllowed: left,
        ...left === 0 && { conditions: withExhausted(status.conditions, generation, now) },
      },
    };
  };
  const track = (next: StoredObject, old: StoredObject) =>
    trackUpdate(core, kind, old, next, { manager: "kube-apiserver", subresource: "status" });
  updateObject(core, kind, { namespace, name, dryRun: false, subresource: "status", track }, change);
}

function withExhausted(conditions: unknown, observedGeneration: number, now: string): readonly unknown[] {
  const type = "DisruptionAllowed";
  const others = Array.isArray(conditions) ? conditions.filter((each) => fields(each).type !== type) : [];
  const exhausted = { type, status: "False", observedGeneration, lastTransitionTime: now, reason: "InsufficientPods" };
  return [...others, { ...exhausted, message: "" }];
}

function refusal(message: string, retryAfterSeconds?: number): StatusError {
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

function fields(value: unknown): Fields {
  return isObject(value) ? value : {};
}
