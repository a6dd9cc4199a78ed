/**
 * Maintains the Lease that shows that an `op dev` runs. Registered webhooks and conversions do not
 * show this, because they remain in the cluster when `op dev` is killed.
 */
import { hostname, userInfo } from "node:os";
import process from "node:process";
import { ApiError } from "@op/sdk";
import { Lease } from "@op/sdk/kinds";
import { type Cluster, ifReadable } from "../cluster.ts";
import { DEV_MANAGER } from "../field_manager.ts";
import type { OperatorFacts } from "../inspect.ts";
import { accountOf } from "./install.ts";

/** Namespace and name of the Lease of an operator's `op dev`. */
export interface LeaseName {
  readonly namespace: string;
  readonly name: string;
}

/** A run of `op dev`, as its Lease describes it. */
export interface DevSession {
  /** User, machine and process ID: `jane@laptop/4711`. */
  readonly holder: string;
  /** Milliseconds since the Lease was renewed. */
  readonly age: number;
  /** Whether the Lease was renewed in time and its process has not ended. */
  readonly isAlive: boolean;
}

/** After this many seconds without a renewal, an `op dev` counts as ended. */
const DURATION_SECONDS = 30;

/** The time between two renewals, in milliseconds. */
const RENEW_INTERVAL = 10_000;

/** Returns the namespace and name of the Lease of an operator's `op dev`. */
export function devLeaseName(facts: Pick<OperatorFacts, "name" | "manifests">): LeaseName {
  return { namespace: accountOf(facts).namespace, name: `${facts.name}-dev` };
}

/**
 * Returns the `op dev` that holds a Lease.
 *
 * @param cluster The cluster.
 * @param lease Namespace and name of the Lease.
 * @param now The time, in milliseconds since the epoch.
 * @param signal Cancels the request.
 * @returns `undefined` if there is no Lease, or the user may not read it.
 */
export async function devSession(
  { client }: Cluster,
  { namespace, name }: LeaseName,
  now: number,
  signal?: AbortSignal,
): Promise<DevSession | undefined> {
  const lease = await ifReadable(() =>
    client.get(Lease, name, { namespace, ...(signal === undefined ? {} : { signal }) })
  );
  const { holderIdentity, renewTime, leaseDurationSeconds = DURATION_SECONDS } = lease?.spec ?? {};
  if (!holderIdentity) return undefined;
  const age = Math.max(0, now - Date.parse(String(renewTime)));
  const isAlive = age <= leaseDurationSeconds * 1000 && !hasEndedHere(holderIdentity);
  return { holder: holderIdentity, age, isAlive };
}

/**
 * Returns whether a holder is a process of this machine that has ended without deleting its Lease.
 */
function hasEndedHere(holder: string): boolean {
  const [, host, pid] = /@(.*)\/(\d+)$/.exec(holder) ?? [];
  if (host !== hostname() || pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as { readonly code?: unknown }).code === "ESRCH";
  }
}

/** Describes an `op dev` in a message. */
export function shownSession({ holder, age, isAlive }: DevSession): string {
  const seconds = Math.round(age / 1000);
  return isAlive
    ? `"op dev" of ${holder} (renewed ${seconds} s ago)`
    : `an "op dev" of ${holder} that has ended (renewed ${seconds} s ago)`;
}

/** Holds the Lease for as long as `op dev` runs. */
export class DevLease implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #name: LeaseName;
  readonly #holder: string = `${userOnHost()}/${Deno.pid}`;
  #timer: ReturnType<typeof setInterval> | undefined;
  #renewing: Promise<unknown> = Promise.resolve();

  constructor(cluster: Cluster, name: LeaseName) {
    this.#cluster = cluster;
    this.#name = name;
  }

  /**
   * Takes the Lease from any other holder, and renews it until disposal. If the user may not write
   * Leases, `op dev` runs without one.
   */
  async take(): Promise<void> {
    if (this.#timer !== undefined || !await this.#renew()) return;
    this.#timer = setInterval(() => {
      // A failed renewal is retried at the next interval. If all fail, the session counts as ended.
      this.#renewing = this.#renew().catch(() => {});
    }, RENEW_INTERVAL);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  async #renew(): Promise<boolean> {
    const { namespace, name } = this.#name;
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: this.#holder, leaseDurationSeconds: DURATION_SECONDS, renewTime };
    try {
      await this.#cluster.client.apply(Lease, { metadata: { name, namespace }, spec }, {
        manager: DEV_MANAGER,
        force: true,
      });
      return true;
    } catch (error) {
      if (error instanceof ApiError && [403, 404].includes(error.status)) return false;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    await this.#renewing;
    const { namespace, name } = this.#name;
    await this.#cluster.client.delete(Lease, name, { namespace }).catch((error) => {
      // A Lease that remains expires after its duration.
      if (!(error instanceof ApiError)) throw error;
    });
  }
}

/** Returns the user and the machine: `jane@laptop`. */
export function userOnHost(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user without a name.
    return "unknown";
  }
}
