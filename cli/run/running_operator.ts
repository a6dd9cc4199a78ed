/**
 * Determines whether an operator already runs in a cluster. Two operators that write the same
 * objects undo each other's changes.
 */
import type { Infer } from "@op/sdk";
import { ID_LABEL, leaseState } from "../internal/mod.gen.ts";
import { Deployment, Lease } from "@op/sdk/kinds";
import { type Cluster, ifReadable } from "../cluster.ts";
import type { OperatorFacts } from "../inspect.ts";
import { counted } from "../plural.ts";
import { devLeaseName, devSession, type LeaseName, shownSession } from "./dev_lease.ts";
import { accountOf } from "./install.ts";

/** The running processes of an operator. */
export interface RunningOperator {
  /** A clause for each process: `Deployment shop-system/shop has 1 replica`. */
  readonly processes: readonly string[];
  /** Commands that stop the Deployments, or `undefined` if there are none. */
  readonly remedy: string | undefined;
  /** The process that holds the Lease. */
  readonly leader: Leader | undefined;
}

/** The leader of an operator, as its Lease describes it. */
export interface Leader {
  readonly holder: string;
  /** Processes with a higher priority may take over from it. */
  readonly priority: number;
  readonly lease: LeaseName;
  /** Seconds since the Lease was renewed. */
  readonly age: number;
}

/**
 * Returns the running processes of an operator in a cluster: its Deployments, the leader, and an
 * `op dev`. Objects that the user may not read are ignored.
 *
 * @param cluster The cluster.
 * @param facts The operator's declarations.
 * @param now The time, in milliseconds since the epoch.
 * @param signal Cancels the requests.
 */
export async function runningOperator(
  cluster: Cluster,
  facts: OperatorFacts,
  now: number,
  signal?: AbortSignal,
): Promise<RunningOperator> {
  const deployments = (await deploymentsOf(cluster, facts, signal)).filter(({ spec }) => spec?.replicas !== 0);
  const leader = await leaderOf(cluster, facts, now, signal);
  const session = await devSession(cluster, devLeaseName(facts), now, signal);
  const scale = deployments.map(({ metadata: { name, namespace } }) =>
    `kubectl scale -n ${namespace} deployment/${name} --replicas=0`
  );
  return {
    processes: [
      ...deployments.map(({ metadata, spec, status }) =>
        `Deployment ${metadata.namespace}/${metadata.name} has ${counted(spec?.replicas ?? 1, "replica")} (${
          status?.availableReplicas ?? 0
        } available)`
      ),
      ...(leader === undefined ? [] : [shownLeader(leader)]),
      ...(session?.isAlive ? [`${shownSession(session)} runs`] : []),
    ],
    remedy: scale.length === 0 ? undefined : scale.join("; "),
    leader,
  };
}

/** Finds Deployments by the operator's ID in any namespace, and by the names in its manifests. */
async function deploymentsOf(
  { client }: Cluster,
  { id, manifests }: OperatorFacts,
  signal: AbortSignal | undefined,
): Promise<readonly Infer<typeof Deployment>[]> {
  const cancel = signal === undefined ? {} : { signal };
  const named = await Promise.all(
    manifests.manager.filter(({ kind }) => kind === "Deployment").map(({ metadata: { name, namespace = "" } }) =>
      ifReadable(() => client.get(Deployment, name, { namespace, ...cancel }))
    ),
  );
  const labeled = id === undefined
    ? []
    : await ifReadable(() => client.list(Deployment, { labelSelector: `${ID_LABEL}=${id}`, ...cancel })) ?? [];
  const all = [...named.flatMap((one) => one ?? []), ...labeled];
  return [...new Map(all.map((one) => [one.metadata.uid, one])).values()];
}

async function leaderOf(
  { client }: Cluster,
  facts: OperatorFacts,
  now: number,
  signal: AbortSignal | undefined,
): Promise<Leader | undefined> {
  const leaseName = electionLease(facts);
  if (leaseName === undefined) return undefined;
  const { name, namespace } = leaseName;
  const lease = await ifReadable(() =>
    client.get(Lease, name, { namespace, ...(signal === undefined ? {} : { signal }) })
  );
  const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = lease?.spec ?? {};
  const age = Math.round((now - Date.parse(String(renewTime))) / 1000);
  if (!holderIdentity || !(age <= leaseDurationSeconds)) return undefined;
  const { priority = 0 } = leaseState(facts.name, lease?.metadata.annotations);
  return { holder: holderIdentity, priority, lease: leaseName, age: Math.max(age, 0) };
}

function shownLeader({ holder, lease: { namespace, name }, age }: Leader): string {
  return `${holder} is the leader (Lease ${namespace}/${name}, renewed ${age} s ago)`;
}

/**
 * Returns the Lease with which an operator's processes elect a leader, or `undefined` if they elect
 * none.
 */
export function electionLease(facts: OperatorFacts): LeaseName | undefined {
  const permission = facts.rbac.find(({ group, resource, verb }) =>
    group === "coordination.k8s.io" && resource === "leases" && verb === "patch"
  );
  if (permission === undefined) return undefined;
  return {
    namespace: permission.namespaces?.[0] ?? accountOf(facts).namespace,
    name: permission.resourceNames[0] ?? facts.name,
  };
}
