/** The live copies of an operator: one watch a kind and namespace, shared by all controllers. */
import type { Clock } from "../base/clock.ts";
import type { Client } from "../kube/client.ts";
import type { AnyKind } from "../resource/kind.ts";
import { Informer } from "../watch/informer.ts";
import type { Logger } from "./logger.ts";

/** Options of {@linkcode Informers}. */
export interface InformersOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** The operator's name: entries of `managedFields` that begin with it are kept. */
  readonly operator: string;
  /** The only namespace to look at. @default {all} */
  readonly namespace: string | undefined;
}

/** The live copies of an operator. */
export class Informers {
  readonly #options: InformersOptions;
  readonly #informers = new Map<string, Informer>();

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /** The live copy of a kind; made when first asked for. */
  of(kind: AnyKind): Informer {
    const identity = `${kind.apiVersion}/${kind.kind}`;
    let informer = this.#informers.get(identity);
    if (informer === undefined) this.#informers.set(identity, informer = this.#make(kind));
    return informer;
  }

  /** Whether what is in a namespace is in the live copies; `undefined` asks for a kind that is cluster-wide, or for all namespaces. */
  covers(namespace: string | undefined): boolean {
    return this.#options.namespace === undefined || namespace === undefined || namespace === this.#options.namespace;
  }

  /** All that were asked for. */
  all(): readonly Informer[] {
    return [...this.#informers.values()];
  }

  /** Watches until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all().map((informer) => informer.run(signal)));
  }

  #make(kind: AnyKind): Informer {
    const { client, clock, random, operator, namespace } = this.#options;
    const log = this.#options.log.with({ kind: kind.kind, apiVersion: kind.apiVersion });
    return new Informer(client, kind, {
      clock,
      random,
      ...(namespace === undefined || !kind.namespaced ? {} : { namespace }),
      keepsManager: (manager) => manager.startsWith(`${operator}.`),
      onProblem: (problem) =>
        problem === undefined ? log.info("Watch recovered") : log.warn("Watch interrupted", { error: problem.message }),
    });
  }
}
