/**
 * Grace periods of pod deletions (`k8s.io/apiserver/pkg/registry/rest/delete.go`, `BeforeDelete`).
 * No other kind has one.
 */
import type { StoredObject } from "../objects/objects.ts";
import type { DeleteOptions } from "../objects/options.ts";

// The default of `terminationGracePeriodSeconds`, in seconds.
const DEFAULT_GRACE = 30;

/** The grace period of a deletion. */
export interface Grace {
  readonly seconds: number;
  /** End of the period, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Returns the grace period of a pod's deletion.
 *
 * @param pod The pod.
 * @param options Options of the deletion.
 * @param now Current time, in milliseconds since the epoch.
 * @returns The period; `pending` if an earlier deletion request set a period that ends no later;
 * `undefined` if the period has ended, so that only finalizers block the deletion.
 */
export function graceOf(pod: StoredObject, options: DeleteOptions, now: number): Grace | "pending" | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: given = 0 } = pod.metadata;
  const requested = options.gracePeriodSeconds === undefined ? undefined : nonNegative(options.gracePeriodSeconds);
  if (deletionTimestamp === undefined) {
    const seconds = initialGrace(pod, requested);
    return { seconds, until: now + 1000 * seconds };
  }
  if (given === 0) return undefined;
  if (requested === undefined || requested >= given) return "pending";
  const until = Date.parse(deletionTimestamp) + 1000 * (requested - given);
  if (until >= now) return { seconds: requested, until };
  // The requested period has already passed. One second is left for the kubelet to see the change,
  // unless the deletion is immediate.
  return { seconds: requested === 0 ? 0 : 1, until: now };
}

/** Replaces a negative period by one second, as the real server does. */
function nonNegative(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}

/** Returns the initial period in seconds. A pod that has ended or has no node needs none. */
function initialGrace({ spec, status }: StoredObject, requested: number | undefined): number {
  const { nodeName, terminationGracePeriodSeconds } = (spec ?? {}) as {
    readonly nodeName?: string;
    readonly terminationGracePeriodSeconds?: number;
  };
  const { phase } = (status ?? {}) as { readonly phase?: string };
  if (!nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return requested ?? nonNegative(terminationGracePeriodSeconds ?? DEFAULT_GRACE);
}
