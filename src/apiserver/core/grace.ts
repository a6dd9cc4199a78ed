/** The time that a pod is given to end (`k8s.io/apiserver/pkg/registry/rest/delete.go`, `BeforeDelete`; pods alone are given any). */
import type { StoredObject } from "../objects/objects.ts";
import type { DeleteOptions } from "../objects/options.ts";

// Of a pod that does not say.
const USUAL = 30;

/** How long a pod has, and until when. */
export interface Grace {
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * The time that a deletion gives to a pod.
 *
 * @param pod The pod.
 * @param options What the deletion asks for.
 * @param now Milliseconds since the epoch.
 * @returns The time; `pending` when it has been given no more than that before; undefined when its time is over, so that only finalizers hold it.
 */
export function graceOf(pod: StoredObject, options: DeleteOptions, now: number): Grace | "pending" | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: given = 0 } = pod.metadata;
  const asked = options.gracePeriodSeconds === undefined ? undefined : positive(options.gracePeriodSeconds);
  if (deletionTimestamp === undefined) {
    const seconds = firstGrace(pod, asked);
    return { seconds, until: now + 1000 * seconds };
  }
  if (given === 0) return undefined;
  if (asked === undefined || asked >= given) return "pending";
  const until = Date.parse(deletionTimestamp) + 1000 * (asked - given);
  if (until >= now) return { seconds: asked, until };
  // What is asked for has passed already: whoever ends the pod still gets to see it, unless no time was asked for.
  return { seconds: asked === 0 ? 0 : 1, until: now };
}

function positive(seconds: number): number {
  return seconds < 0 ? 1 : seconds;
}

/** On no node, or when it has ended, nobody is there who would need time. */
function firstGrace({ spec, status }: StoredObject, asked: number | undefined): number {
  const { nodeName, terminationGracePeriodSeconds } = (spec ?? {}) as {
    readonly nodeName?: string;
    readonly terminationGracePeriodSeconds?: number;
  };
  const { phase } = (status ?? {}) as { readonly phase?: string };
  if (!nodeName || phase === "Succeeded" || phase === "Failed") return 0;
  return asked ?? positive(terminationGracePeriodSeconds ?? USUAL);
}
