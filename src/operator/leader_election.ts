/** The option `leaderElection` of an operator. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { type LeaseTimes, refuseTimes } from "../runtime/lease.ts";

/** How the processes of one operator agree on the one that works. The names are controller-runtime's, the times client-go's. */
export interface LeaderElectionOptions {
  /** The Lease's name. It must not change once released: processes of two versions agree by it. @default {the operator's name} */
  readonly id?: string;
  /** The Lease's namespace. @default {the pod's, or the kubeconfig context's} */
  readonly namespace?: string;
  /** How long the others wait for a leader that is silent. @default {"15s"} */
  readonly leaseDuration?: Duration;
  /** How long a leader that cannot renew its lease goes on. @default {"10s"} */
  readonly renewDeadline?: Duration;
  /** How long it is between two tries. @default {"2s"} */
  readonly retryPeriod?: Duration;
}

/** The option with its defaults. */
export interface LeaderElection extends LeaseTimes {
  /** `in a pod` is the default: there a second process may run at any time, as while a Deployment is rolled out. */
  readonly when: "always" | "in a pod" | "never";
  /** The Lease's name. */
  readonly id: string;
  /** The Lease's namespace; absent for that of the pod, or of the kubeconfig's context. */
  readonly namespace: string | undefined;
}

/**
 * Fills the defaults in.
 *
 * @param operator The operator's name.
 * @param option What was said.
 * @throws {RangeError} If with these times two could lead at once.
 */
export function leaderElectionOf(
  operator: string,
  option: boolean | LeaderElectionOptions | undefined,
): LeaderElection {
  const said = typeof option === "object" ? option : {};
  const { id = operator, namespace, leaseDuration = "15s", renewDeadline = "10s", retryPeriod = "2s" } = said;
  const times = {
    leaseDuration: milliseconds(leaseDuration),
    renewDeadline: milliseconds(renewDeadline),
    retryPeriod: milliseconds(retryPeriod),
  };
  refuseTimes(times);
  return { when: option === undefined ? "in a pod" : option === false ? "never" : "always", id, namespace, ...times };
}
