/** Several processes of one operator on one cluster in the test process: each can be frozen, as by SIGSTOP, and woken. */
import { setImmediate } from "node:timers";
import type { Clock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import type { Operator } from "@op/sdk";
import type { MemoryCluster } from "@op/sdk/testing";
import { type Running, startOperator } from "../../src/operator/running.ts";

/** A process of an operator. */
export interface Process extends AsyncDisposable {
  readonly running: Running;
  /** What it sent that writes, leases aside: `PATCH /api/...`, in order. */
  readonly writes: readonly string[];
  /** What it sent that concerns its lease. */
  readonly leases: readonly string[];
  /** Nothing of it goes on: no timer runs, no answer arrives. */
  freeze(): void;
  wake(): void;
  /** As when its network is gone: no request is answered. */
  cutOff(isCutOff: boolean): void;
  /** Its wall clock is set: by so many milliseconds off. */
  setClock(offset: number): void;
  /** As by SIGTERM. */
  stop(): Promise<void>;
}

/** Answers and timers that are due all come at once when a process wakes. That answers come first, and what goes on after them, is the harder case. */
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
