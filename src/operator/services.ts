/** Values that the operator creates at start and passes to each reconcile. */
import { aborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { ClusterAccess } from "../kube/cluster_access.ts";
import type { Log } from "../parts/context.ts";
import type { Metrics } from "../parts/metrics.ts";

/** The context of the option `services`. */
export interface ServicesContext {
  /** Aborted when the operator stops. */
  readonly signal: AbortSignal;
  /** The operator's log, without an object's keys. */
  readonly log: Log;
  /**
   * The operator's clock: system time, or the clock of the memory cluster, which the test advances.
   */
  readonly clock: Clock;
  /** Access to the API server, for other client libraries. */
  readonly connection: ClusterAccess;
  /** Creates metrics. Those that are counted in webhook threads are not included. */
  readonly metrics: Metrics;
}

/** Creates and closes the services. */
export class Services {
  #value: unknown;
  #isCreated = false;

  /** The services, or `undefined` until they are created. Reconciles start after that. */
  get value(): unknown {
    return this.#value;
  }

  /**
   * Creates the services.
   *
   * @param create Creates them. Its errors are ignored while the operator stops.
   * @param context The argument of `create`.
   * @param deadline Aborted when the operator no longer waits for the services. Services that are
   *   created later are closed at once.
   * @returns Whether the services were created.
   */
  async create(
    create: ((context: ServicesContext) => unknown) | undefined,
    context: ServicesContext,
    deadline: AbortSignal,
  ): Promise<boolean> {
    const { signal, log } = context;
    const creating = (async () => await create?.(context))();
    try {
      this.#isCreated = await Promise.race([creating.then(() => true), aborted(deadline).then(() => false)]);
    } catch (error) {
      if (!signal.aborted) throw error;
      log.debug("Services not created", { error: (error as Error).message });
      return false;
    }
    if (this.#isCreated) this.#value = await creating;
    else {
      log.warn("Services not created before the operator stopped");
      creating.then((late) => closeAll(late, log), () => undefined);
    }
    return this.#isCreated;
  }

  /**
   * Disposes of the services: of the value itself, or of each of its properties, the last one
   * first. An error is logged and does not affect the others.
   *
   * @param log The log for errors.
   * @param limit Settles when the operator no longer waits.
   */
  async close(log: Log, limit: Promise<void>): Promise<void> {
    if (!this.#isCreated) return;
    const isClosed = await Promise.race([closeAll(this.#value, log).then(() => true), limit.then(() => false)]);
    if (!isClosed) log.warn("Services not closed in time");
  }
}

async function closeAll(value: unknown, log: Log): Promise<void> {
  if (typeof value !== "object" || value === null) return;
  const all = isDisposable(value) ? [value] : Object.values(value).reverse();
  for (const service of all) {
    try {
      if (!isDisposable(service)) continue;
      if (Symbol.asyncDispose in service) await service[Symbol.asyncDispose]();
      else service[Symbol.dispose]();
    } catch (error) {
      log.error("Service not closed", { error });
    }
  }
}

function isDisposable(value: unknown): value is AsyncDisposable | Disposable {
  return typeof value === "object" && value !== null && (Symbol.asyncDispose in value || Symbol.dispose in value);
}
