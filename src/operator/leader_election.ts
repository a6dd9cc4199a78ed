/** The option `leaderElection` of an operator. */
import { type Duration, milliseconds } from "../base/duration.ts";
import { checkLeaseTimes, type LeaseTimes } from "../runtime/lease.ts";

/**
 * How the processes of an operator elect a leader. Names are those of controller-runtime, durations
 * those of client-go.
 */
export interface LeaderElectionOptions {
  /**
   * The name of the Lease. It must not change after a release, because processes of different
   * versions use it to agree. @default {the operator's name}
   */
  readonly id?: string;
  /** The namespace of the Lease. @default {the pod's, or that of the kubeconfig's context} */
  readonly namespace?: string;
  /** How long other processes wait for a leader that does not renew the Lease. @default {"15s"} */
  readonly leaseDuration?: Duration;
  /** How long a leader that cannot renew the Lease continues. @default {"10s"} */
  readonly renewDeadline?: Duration;
  /** The time between two attempts. @default {"2s"} */
  readonly retryPeriod?: Duration;
}

/** The options with defaults applied. */
export interface LeaderElection extends LeaseTimes {
  /**
   * `in a pod` is the default: there a second process may run at any time, for example while a
   * Deployment is rolled out.
   */
  readonly when: "always" | "in a pod" | "never";
  /** The name of the Lease. */
  readonly id: string;
  /**
   * The namespace of the Lease, or `undefined` for that of the pod or of the kubeconfig's context.
   */
  readonly namespace: string | undefined;
  /** A leader yields to a process that takes over with a higher priority. */
  readonly priority: number;
  /** Whether this process takes over from a leader of lower priority. */
  readonly takeOver: boolean;
}

/** The priority of a process that takes over; that of others is 0. */
export const TAKE_OVER_PRIORITY = 100;

/**
 * Applies the defaults.
 *
 * @param operator The operator's name.
 * @param option The option.
 * @throws {RangeError} If two processes could lead at once with these durations.
 */
export function leaderElectionOf(
  operator: string,
  option: boolean | LeaderElectionOptions | undefined,
): LeaderElection {
  const options = typeof option === "object" ? option : {};
  const { id = operator, namespace, leaseDuration = "15s", renewDeadline = "10s", retryPeriod = "2s" } = options;
  const times = {
    leaseDuration: milliseconds(leaseDuration),
    renewDeadline: milliseconds(renewDeadline),
    retryPeriod: milliseconds(retryPeriod),
  };
  checkLeaseTimes(times);
  const when = option === undefined ? "in a pod" : option === false ? "never" : "always";
  return { when, id, namespace, priority: 0, takeOver: false, ...times };
}
