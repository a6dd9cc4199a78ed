/**
 * Sets conditions of pods (`k8s.io/kubernetes/pkg/api/pod`, `UpdatePodCondition`).
 */
import { isObject } from "../../base/json.ts";
import { type StoredObject, timestamp } from "../objects/objects.ts";

/** A condition without its times. */
export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Returns a pod with a condition. Its transition time changes only with its status. */
export function withPodCondition(pod: StoredObject, condition: PodCondition, now: number): StoredObject {
  const status = isObject(pod.status) ? pod.status : {};
  const before = (Array.isArray(status.conditions) ? status.conditions : []) as (PodCondition & object)[];
  const known = before.find(({ type }) => type === condition.type);
  if (known?.status === condition.status) return pod;
  const { type, status: value, ...rest } = condition;
  const next = { type, status: value, lastProbeTime: null, lastTransitionTime: timestamp(now), ...rest };
  const conditions = known === undefined ? [...before, next] : before.map((each) => each === known ? next : each);
  return { ...pod, status: { ...status, conditions } };
}
