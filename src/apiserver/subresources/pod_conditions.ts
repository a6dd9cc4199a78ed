/** Conditions of a pod that the server sets by itself (`k8s.io/kubernetes/pkg/api/pod`, `UpdatePodCondition`). */
import { isObject } from "../../base/json.ts";
import { type StoredObject, timestamp } from "../objects/objects.ts";

/** A condition but for its times. */
export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A pod with a condition; of the time of its change where it says something new. */
export function withPodCondition(pod: StoredObject, condition: PodCondition, now: number): StoredObject {
  const status = isObject(pod.status) ? pod.status : {};
  const before = (Array.isArray(status.conditions) ? status.conditions : []) as (PodCondition & object)[];
  const known = before.find(({ type }) => type === condition.type);
  if (known?.status === condition.status) return pod;
  const { type, status: value, ...why } = condition;
  const next = { type, status: value, lastProbeTime: null, lastTransitionTime: timestamp(now), ...why };
  const conditions = known === undefined ? [...before, next] : before.map((each) => each === known ? next : each);
  return { ...pod, status: { ...status, conditions } };
}
