/** What an operator makes at its start and hands to each run. */
import type { Log } from "../parts/context.ts";

/** What the option `services` is handed. */
export interface ServicesContext {
  /** Aborted when the operator stops. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** Services, once they are made. */
export class Services {
  #value: unknown;
  #isMade = false;

  /** What was made; runs begin only after that. */
  get value(): unknown {
    return this.#value;
  }

  /** Makes them. */
  async make(how: ((context: ServicesContext) => unknown) | undefined, context: ServicesContext): Promise<void> {
    this.#value = await how?.(context);
    this.#isMade = true;
  }

  /**
   * Closes what can be closed: the services themselves, or each of them, the last one first. One that cannot be closed is told, and the others are.
   *
   * @param log Where it is told.
   */
  async close(log: Log): Promise<void> {
    if (!this.#isMade || typeof this.#value !== "object" || this.#value === null) return;
    const all = isDisposable(this.#value) ? [this.#value] : Object.values(this.#value).reverse();
    for (const one of all) {
      try {
        if (!isDisposable(one)) continue;
        if (Symbol.asyncDispose in one) await one[Symbol.asyncDispose]();
        else one[Symbol.dispose]();
      } catch (error) {
        log.error("Service not closed", { error });
      }
    }
  }
}

function isDisposable(value: unknown): value is AsyncDisposable | Disposable {
  return typeof value === "object" && value !== null && (Symbol.asyncDispose in value || Symbol.dispose in value);
}
