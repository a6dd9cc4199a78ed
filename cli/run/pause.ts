/**
 * `op pause` and `op resume`: pause all controllers of an operator by annotations of its Lease, and
 * resume them.
 */
import { ApiError, type Infer } from "@op/sdk";
import { Lease } from "@op/sdk/kinds";
import { type Cluster, connectCluster, ifFound } from "../cluster.ts";
import { durationOption } from "../duration_option.ts";
import { Failure, UsageError } from "../exit_code.ts";
import { leaseAnnotations, leaseState, nearest, shownPause } from "../internal/mod.gen.ts";
import type { Io } from "../io.ts";
import { userOnHost } from "./dev_lease.ts";

/** Options for {@linkcode resume}. */
export interface ResumeOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** The namespace of the Lease. @default {all are searched} */
  readonly namespace?: string | undefined;
}

/** Options for {@linkcode pause}. */
export interface PauseOptions extends ResumeOptions {
  /** The operator resumes by itself after this duration. @default {it does not} */
  readonly for?: string | undefined;
}

/** The longest pause with an end, in milliseconds: a year. */
const LONGEST_PAUSE = 8760 * 3600 * 1000;

/**
 * Pauses an operator.
 *
 * @param operator The operator's name.
 * @param options The cluster, and how long to pause.
 * @param io The terminal and the shell.
 * @throws {Failure} If there is no Lease of this operator, or several.
 */
export async function pause(operator: string, options: PauseOptions, io: Io): Promise<void> {
  const command = `pause "${operator}"`;
  checkName(operator, command);
  const length = options.for === undefined ? undefined : durationOption(options.for, "--for", 1000);
  if (length !== undefined && length > LONGEST_PAUSE) {
    throw new UsageError(
      `Cannot use --for "${options.for}": a pause lasts at most a year (8760h). Omit --for to pause until op resume.`,
    );
  }
  using cluster = await connectCluster(options, io);
  const lease = await leaseOf(cluster, operator, command, options);
  const pause = { by: userOnHost(), until: length === undefined ? undefined : Date.now() + length };
  await annotate(cluster, lease, leaseAnnotations(operator, { pause }));
  const end = length === undefined ? `. Resume it with "op resume ${operator}"` : "";
  io.out(`"${operator}" is ${shownPause(pause)}${end} (Lease ${shownName(lease)})\n`);
  io.out(
    lease.spec?.holderIdentity
      ? "Its leader starts no more reconciles after a few seconds; running ones finish\n"
      : "No process leads now. The pause applies to the next leader\n",
  );
}

/**
 * Ends the pause of an operator.
 *
 * @param operator The operator's name.
 * @param options The cluster.
 * @param io The terminal and the shell.
 * @throws {Failure} If there is no Lease of this operator, or several.
 */
export async function resume(operator: string, options: ResumeOptions, io: Io): Promise<void> {
  const command = `resume "${operator}"`;
  checkName(operator, command);
  using cluster = await connectCluster(options, io);
  const lease = await leaseOf(cluster, operator, command, options);
  const { pause } = leaseState(operator, lease.metadata.annotations);
  if (pause === undefined) return io.out(`"${operator}" is not paused (Lease ${shownName(lease)})\n`);
  await annotate(cluster, lease, leaseAnnotations(operator, { pause: null }));
  io.out(`"${operator}" resumes; it was ${shownPause(pause)} (Lease ${shownName(lease)})\n`);
}

type LeaseObject = Infer<typeof Lease>;

function checkName(operator: string, command: string): void {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(operator)) return;
  throw new UsageError(
    `Cannot ${command}: it must be the name of an operator (lowercase letters, digits and dashes), such as shop.`,
  );
}

async function annotate(
  { client }: Cluster,
  { metadata: { name, namespace = "" } }: LeaseObject,
  annotations: Record<string, string | null>,
): Promise<void> {
  await client.patch(Lease, name, { metadata: { annotations: annotations as Record<string, string> } }, { namespace });
}

/**
 * Returns the Lease of an operator. Leases are recognized by their annotations, because a Lease may
 * have another name than its operator, and because Leases of other programs must not be changed.
 */
async function leaseOf(
  cluster: Cluster,
  operator: string,
  command: string,
  { namespace }: ResumeOptions,
): Promise<LeaseObject> {
  const { url } = cluster;
  const candidates = await candidatesOf(cluster, operator, namespace);
  const found = candidates.filter(({ metadata }) => leaseState(operator, metadata.annotations).priority !== undefined);
  const [lease, ...others] = found;
  if (lease === undefined) {
    const suggestion = nearest(operator, candidates.flatMap(operatorsOf));
    throw new Failure(
      `Cannot ${command}: no operator of this name has a Lease in ${
        namespace === undefined ? "" : `namespace "${namespace}" of `
      }${url}. ${
        suggestion === undefined
          ? "The Lease is created when the operator starts with leader election. Check the name and --namespace."
          : `Did you mean "${suggestion}"?`
      }`,
    );
  }
  if (others.length === 0) return lease;
  throw new Failure(
    `Cannot ${command}: there are ${found.length} operators of this name, with the Leases ${
      found.map(shownName).sort().join(", ")
    }. Choose one with --namespace.`,
  );
}

/**
 * Returns the Leases in the namespace, or the one with the default name if listing is forbidden.
 */
async function candidatesOf(
  { client }: Cluster,
  operator: string,
  namespace: string | undefined,
): Promise<readonly LeaseObject[]> {
  try {
    return await client.list(Lease, namespace === undefined ? {} : { namespace });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    const lease = await ifFound(() => client.get(Lease, operator, { namespace: namespace ?? `${operator}-system` }));
    return lease === undefined ? [] : [lease];
  }
}

/** Returns the operators that a Lease belongs to: one, or none if it is of another program. */
function operatorsOf({ metadata: { annotations = {} } }: LeaseObject): string[] {
  return Object.keys(annotations).flatMap((name) => /^(.*)\.op\/priority$/.exec(name)?.[1] ?? []);
}

function shownName({ metadata: { name, namespace } }: LeaseObject): string {
  return `${namespace}/${name}`;
}
