/** Processes of operators that a test freezes, disconnects or kills, on an in-memory cluster. */
import { setImmediate } from "node:timers";
import type { Clock } from "../../src/base/clock.ts";
import type { Connection } from "../../src/kube/connection.ts";
import type { Operator } from "@op/sdk";
import type { MemoryCluster } from "@op/sdk/testing";
import { type Running, startOperator } from "../../src/operator/running.ts";

/** Options for {@linkcode startProcess}. */
export interface ProcessOptions {
  /** Host name of the process. @default {"pod"} */
  readonly host?: string;
  /**
   * Kills the process at this write, as `kill -9` does: the server handles the write, but the
   * process receives no response, runs no timer and sends no further request. Writes of Leases
   * count. @default {never}
   */
  readonly killedAtWrite?: number;
}

/**
 * Starts a process of an operator.
 *
 * @param cluster The cluster, whose virtual clock the process uses.
 * @param operator The operator.
 * @param options Its host name, and when it is killed.
 */
export function startProcess(cluster: MemoryCluster, operator: Operator, options: ProcessOptions = {}): Process {
  return new Process(cluster, operator, options);
}

/** A process of an operator. Disposing of it stops it. */
export class Process implements AsyncDisposable {
  readonly running: Running;
  /** Its writes in order, without those of Leases: `PATCH /api/...`. */
  readonly writes: string[] = [];
  /** Its writes of Leases, in order. */
  readonly leases: string[] = [];
  readonly #cluster: MemoryCluster;
  readonly #killedAtWrite: number;
  readonly #stop = new AbortController();
  /** Resolves when the test disposes of a killed process. */
  readonly #disposed = Promise.withResolvers<void>();
  /** Resolves when the process resumes. `undefined` while it is not frozen. */
  #frozen: PromiseWithResolvers<void> | undefined;
  #isKilled = false;
  #isConnected = true;
  #clockOffset = 0;

  /** Use {@linkcode startProcess}. */
  constructor(cluster: MemoryCluster, operator: Operator, { host = "pod", killedAtWrite = Infinity }: ProcessOptions) {
    this.#cluster = cluster;
    this.#killedAtWrite = killedAtWrite;
    const clock: Clock = {
      now: () => cluster.clock.now() + this.#clockOffset,
      elapsed: () => cluster.clock.elapsed(),
      after: (delay, callback) => cluster.clock.after(delay, () => this.#onTimer(callback)),
    };
    const connection: Connection = {
      url: "http://memory.cluster",
      fetch: (request) => this.#fetch(request),
      close() {},
    };
    this.running = startOperator(operator, {
      connection,
      clock,
      random: () => 0.5,
      identity: host,
      signal: this.#stop.signal,
      checkAccess: false,
    });
  }

  /** Whether it has been killed. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Freezes the process, as SIGSTOP does: no timer runs and no response arrives. */
  freeze(): void {
    this.#frozen ??= Promise.withResolvers();
  }

  /** Resumes the process, as SIGCONT does. All due responses and timers arrive at once. */
  resume(): void {
    this.#frozen?.resolve();
    this.#frozen = undefined;
  }

  /** Sets whether requests get responses. Without a network they hang until their timeout. */
  setConnected(isConnected: boolean): void {
    this.#isConnected = isConnected;
  }

  /** Sets the difference of its wall clock from the cluster's, in milliseconds. */
  setClockOffset(milliseconds: number): void {
    this.#clockOffset = milliseconds;
  }

  /** Stops the process, as SIGTERM does, and waits until it has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.running.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume();
    const ended = this.running[Symbol.asyncDispose]();
    if (this.#isKilled) {
      // Ends pending requests and timers. The operator waits before it retries, in virtual time.
      this.#disposed.resolve();
      await this.#cluster.advance("1m");
    }
    await ended;
  }

  #onTimer(callback: () => void): void {
    if (this.#isKilled) void this.#disposed.promise.then(callback);
    // Responses and their continuations come before timers, which is the harder case.
    else if (this.#frozen !== undefined) void this.#frozen.promise.then(turns).then(callback);
    else callback();
  }

  async #fetch(request: Request): Promise<Response> {
    if (this.#isKilled) return await this.#noResponse();
    const { pathname } = new URL(request.url);
    if (request.method !== "GET") {
      (pathname.includes("/leases") ? this.leases : this.writes).push(`${request.method} ${pathname}`);
      // Requests that other reconciles send in the same turn of the event loop are dropped too.
      this.#isKilled = this.writes.length + this.leases.length === this.#killedAtWrite;
    }
    if (!this.#isConnected) {
      await new Promise((_, reject) => request.signal.addEventListener("abort", () => reject(request.signal.reason)));
    }
    const response = await this.#cluster.fetch(request);
    if (this.#isKilled) return await this.#noResponse();
    while (this.#frozen !== undefined) await this.#frozen.promise;
    return response;
  }

  async #noResponse(): Promise<never> {
    await this.#disposed.promise;
    throw new Error("connection refused");
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
