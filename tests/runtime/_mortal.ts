/**
 * A process of an operator that dies, as by kill -9, after a number of writes: it receives no
 * response, runs no timer and sends no further request.
 */
import type { Clock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import { startOperator } from "../../src/operator/running.ts";
import type { Operator } from "@op/sdk";
import type { MemoryCluster } from "@op/sdk/testing";

/** A process that may die. */
export interface Mortal extends AsyncDisposable {
  readonly isDead: boolean;
  /** Number of its writes that reached the server. */
  readonly writes: number;
}

/**
 * Starts a process of an operator.
 *
 * @param cluster The cluster it works on.
 * @param operator The operator to start.
 * @param lastWrite The write after which it dies; `undefined` for a process that does not die.
 */
export function startMortal(cluster: MemoryCluster, operator: Operator, lastWrite = Infinity): Mortal {
  let writes = 0;
  let isDead = false;
  const end = Promise.withResolvers<void>();
  const clock: Clock = {
    now: () => cluster.clock.now(),
    elapsed: () => cluster.clock.elapsed(),
    after: (delay, callback) => cluster.clock.after(delay, () => isDead ? void end.promise.then(callback) : callback()),
  };
  const never = async (): Promise<never> => {
    await end.promise;
    throw new Error("connection refused");
  };
  const connection: Connection = {
    url: "http://memory.cluster",
    async fetch(request) {
      if (isDead) return await never();
      const isWrite = request.method !== "GET";
      if (isWrite) {
        writes++;
        // Requests that other reconciles send in the same turn of the event loop are dropped too.
        isDead = writes === lastWrite;
      }
      const response = await cluster.fetch(request);
      return isDead ? await never() : response;
    },
    close() {},
  };
  const running = startOperator(operator, { connection, clock, random: () => 0.5, checkAccess: false });
  return {
    get isDead() {
      return isDead;
    },
    get writes() {
      return writes;
    },
    async [Symbol.asyncDispose]() {
      isDead = true;
      end.resolve();
      const ended = running[Symbol.asyncDispose]();
      await cluster.advance("1m");
      await ended;
    },
  };
}
