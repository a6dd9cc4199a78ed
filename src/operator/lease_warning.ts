/** Warns when an operator runs without leader election while another process holds its Lease. */
import { Lease } from "../kinds/coordination_v1.gen.ts";
import { ApiError } from "../kube/api_error.ts";
import type { Client } from "../kube/client.ts";
import type { Logger } from "../runtime/logger.ts";
import type { LeaderElection } from "./leader_election.ts";

/** Options of {@linkcode warnOfLeader}. */
export interface LeaseWarningOptions {
  readonly client: Client;
  readonly log: Logger;
  /** The namespace of the Lease, if the options of the leader election have none. */
  readonly namespace: string;
  /** The time, in milliseconds since the epoch. */
  readonly now: number;
  /** Writes to the terminal. @default {none: the warning is logged} */
  readonly terminal?: ((text: string) => void) | undefined;
}

/**
 * Warns if another process holds the Lease: in red on a terminal, otherwise as a log line. If the
 * Lease cannot be read, there is no warning, because the process may lack the RBAC permission.
 *
 * @param election The options of the leader election.
 * @param options The client and the log.
 */
export async function warnOfLeader(
  { id, namespace: configured }: Pick<LeaderElection, "id" | "namespace">,
  { client, log, namespace: own, now, terminal }: LeaseWarningOptions,
): Promise<void> {
  const namespace = configured ?? own;
  try {
    const { spec } = await client.get(Lease, id, { namespace });
    const { holderIdentity: leader, renewTime, leaseDurationSeconds = 15 } = spec ?? {};
    const isExpired = !(now - Date.parse(String(renewTime)) <= leaseDurationSeconds * 1000);
    if (!leader || isExpired) return;
    const message = "Reconciling without leader election although another process leads";
    if (terminal === undefined) log.warn(message, { lease: `${namespace}/${id}`, leader });
    else {
      terminal(
        `\x1b[31mWARNING: ${leader} holds the Lease ${namespace}/${id} and writes the same objects. ` +
          `Replace --no-leader-election with --take-over, or stop that process.\x1b[0m\n`,
      );
    }
  } catch (error) {
    if (!(error instanceof ApiError)) log.debug("Lease not read", { error: (error as Error).message });
  }
}
