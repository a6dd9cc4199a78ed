/** Waiting for the world to be as it should, by a watch: no polling, no sleeping. */
import { systemClock } from "../src/base/clock.ts";
import { Client } from "../src/kube/client.ts";
import type { RealCluster } from "../src/testing/real_cluster.ts";
import type { AnyKind, Infer } from "../src/resource/kind.ts";
import { Informer } from "../src/watch/informer.ts";
import type { Store } from "../src/watch/store.ts";
import { HANG_LIMIT } from "./eventually.ts";

/** A live view of a kind for a test. */
export interface Watched<K extends AnyKind> extends AsyncDisposable {
  readonly store: Store;
  /** The objects that are there. */
  values(): Infer<K>[];
  /** Settles when the objects pass; fails after {@linkcode HANG_LIMIT}. */
  until(passes: (objects: Infer<K>[]) => boolean): Promise<void>;
}

/** A client of a real cluster, as its administrator. */
export function adminClient(cluster: RealCluster): Client {
  return new Client({ url: cluster.url, fetch: (request) => cluster.fetch(request), close() {} }, {
    userAgent: "test",
  });
}

/**
 * Watches a kind in all namespaces, through restarts of the server.
 *
 * @param client Who watches.
 * @param kind What.
 */
export async function watched<K extends AnyKind>(client: Client, kind: K): Promise<Watched<K>> {
  const stop = new AbortController();
  const informer = new Informer(client, kind, {
    clock: systemClock,
    random: () => 0.5,
    keepsFieldsOf: () => false,
    onProblem: () => {},
  });
  const looks = new Set<() => void>();
  informer.listen(() => looks.forEach((look) => look()));
  const running = informer.run(stop.signal);
  await informer.synced;
  const values = () => [...informer.store.values()] as unknown as Infer<K>[];
  return {
    store: informer.store,
    values,
    until(passes) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const look = (): void => {
        if (!passes(values())) return;
        looks.delete(look);
        resolve();
      };
      looks.add(look);
      look();
      const late = systemClock.after(HANG_LIMIT, () => {
        looks.delete(look);
        reject(
          new Error(`The objects of ${kind.kind} did not become as they should: ${Deno.inspect(values().at(-1))}`),
        );
      });
      return promise.finally(() => late[Symbol.dispose]());
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
