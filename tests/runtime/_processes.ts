/**
 * Several processes of one operator on one cluster in the test process: each can be frozen, as by
 * SIGSTOP, and resumed.
 */
import { setImmediate } from "node:timers";
import type { Clock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import type { Operator } from "@op/sdk";
import type { MemoryCluster } from "@op/sdk/testing";
import { type Running, startOperator } from "../../src/operator/running.ts";

/** A process of an operator. */
export interface Process extends AsyncDisposable {
  readonly running: Running;
  /** Its writes in order, without Leases: `PATCH /api/...`. */
  readonly writes: readonly string[];
  /** Its requests for the Lease. */
  readonly leases: readonly string[];
  /** Freezes the process: no timer runs and no response arrives. */
  freeze(): void;
  wake(): void;
  /** Cuts its network: no request is answered. */
  cutOff(isCutOff: boolean): void;
  /** Sets its wall clock off by a number of milliseconds. */
  setClock(offset: number): void;
  /** Stops it as SIGTERM does. */
  stop(): Promise<void>;
}

/**
 * When a process resumes, all due responses and timers arrive at once. Responses and their
 * continuations come first, which is the harder case.
 */
async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** Starts a process of an operator. */
export function startProcess(cluster: MemoryCluster, operator: Operator, host: string): Process {
  const writes: string[] = [];
  const leases: string[] = [];
  let frozen: PromiseWithResolvers<void> | undefined;
  let isCutOff = false;
  let offset = 0;
  const clock: Clock = {
    now: () => cluster.clock.now() + offset,
    elapsed: () => cluster.clock.elapsed(),
    after: (delay, callback) =>
      cluster.clock.after(delay, () => {
        if (frozen === undefined) callback();
        else void frozen.promise.then(turns).then(callback);
      }),
  };
  const connection: Connection = {
    url: "http://memory.cluster",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.method !== "GET") {
        (pathname.includes("/leases") ? leases : writes).push(`${request.method} ${pathname}`);
      }
      if (isCutOff) {
        await new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
      }
      const response = await cluster.fetch(request);
      while (frozen !== undefined) await frozen.promise;
      return response;
    },
    close() {},
  };
  const stop = new AbortController();
  const running = startOperator(operator, {
    connection,
    clock,
    random: () => 0.5,
    host,
    signal: stop.signal,
    checkAccess: false,
  });
  const wake = () => {
    frozen?.resolve();
    frozen = undefined;
  };
  return {
    running,
    writes,
    leases,
    freeze: () => void (frozen ??= Promise.withResolvers()),
    wake,
    cutOff: (yes) => void (isCutOff = yes),
    setClock: (milliseconds) => void (offset = milliseconds),
    async stop() {
      stop.abort();
      await running.ended;
    },
    async [Symbol.asyncDispose]() {
      wake();
      await running[Symbol.asyncDispose]();
    },
  };
}
